// A field for a text of rules or a question: line numbers, errors where they are, completion.
// Tab takes the first completion. Enter takes one only if an arrow key has chosen it: else it ends a line.

import { el } from "./show.js";

const SHOWN = 8;
let count = 0;

/** `words(before)` gives what a word could become: [text, remark] pairs. `run` is Ctrl-Enter. */
export function makeEditor({ label, rows, words, run, input }) {
  const id = `words-${++count}`;
  const numbers = el("pre", { class: "numbers", "aria-hidden": "true" });
  const marks = el("pre", { class: "marks", "aria-hidden": "true" });
  const options = el("ul", { class: "options", id, role: "listbox", "aria-label": "Completions", hidden: true });
  const field = el("textarea", {
    rows, wrap: "off", spellcheck: "false", autocapitalize: "off", autocomplete: "off",
    "aria-label": label, "aria-controls": id, "aria-autocomplete": "list",
    input: () => { tell([]); complete(); input?.(); },
    scroll: follow, keydown: key, blur: () => setTimeout(() => document.activeElement !== field && close(), 150), click: close,
  });
  const list = el("ul", { class: "problems", hidden: true });
  const root = el("div", { class: "editor" },
    el("div", { class: "sheet" }, numbers, el("div", { class: "area" }, marks, field, options)), list);
  let problems = [], found = [], choice = 0, hasChosen = false;

  function follow() {
    marks.scrollTop = numbers.scrollTop = field.scrollTop;
    marks.scrollLeft = field.scrollLeft;
  }

  /** Show errors at their lines, and in a list that leads to them. */
  function tell(told) {
    problems = told;
    draw();
    list.hidden = !told.length;
    list.replaceChildren(...told.map((one) => el("li", {},
      one.line ? el("button", { type: "button", class: "plain", click: () => go(one) }, `line ${one.line}, column ${one.column}`) : null,
      ` ${one.message}${one.hint ? `. ${one.hint}` : ""}`)));
  }

  function draw() {
    const lines = field.value.split("\n");
    const at = (line) => problems.filter((one) => one.line === line + 1);
    numbers.replaceChildren(...lines.map((_, line) =>
      el("span", { class: at(line).length ? "bad" : null }, `${line + 1}\n`)), "\n");
    marks.replaceChildren(...lines.map((text, line) => marked(text, at(line))), "\n");
    follow();
  }

  function marked(text, here) {
    if (!here.length) return el("span", {}, `${text}\n`);
    const start = here[0].column - 1;
    const end = here[0].end_line === here[0].line ? Math.max(here[0].end_column - 1, start + 1) : text.length;
    return el("span", { class: "line" }, text.slice(0, start),
      el("mark", {}, text.slice(start, end) || " "), text.slice(end),
      el("em", {}, `  ${here.map((one) => one.message).join("; ")}`), "\n");
  }

  function go({ line, column }) {
    const before = field.value.split("\n").slice(0, line - 1).join("\n").length;
    const place = (line > 1 ? before + 1 : 0) + column - 1;
    field.focus();
    field.setSelectionRange(place, place);
  }

  // Completion

  function word() {
    return /[\p{L}\p{N}_:.]*$/u.exec(field.value.slice(0, field.selectionStart))[0];
  }

  function complete() {
    const begun = word();
    const after = field.value.slice(field.selectionStart);
    found = /[\p{L}_]/u.test(begun) && !/^[\p{L}\p{N}_]/u.test(after) ? matching(words?.() ?? [], begun) : [];
    choice = 0;
    hasChosen = false;
    offer();
  }

  function offer() {
    options.hidden = !found.length;
    options.replaceChildren(...found.map(([text, remark], place) => el("li", {
      role: "option", id: `${id}-${place}`, "aria-selected": String(place === choice),
      mousedown: (event) => { event.preventDefault(); take(place); },
    }, el("span", {}, text), el("small", {}, remark))));
    if (found.length) field.setAttribute("aria-activedescendant", `${id}-${choice}`);
    else field.removeAttribute("aria-activedescendant");
    const before = field.value.slice(0, field.selectionStart).split("\n");
    options.style.top = `calc(${before.length * 1.5}em + .6em - ${field.scrollTop}px)`;
    options.style.left = `min(calc(${before.at(-1).length - word().length}ch - ${field.scrollLeft}px), 100% - 16em)`;
  }

  function close() {
    found = [];
    options.hidden = true;
    field.removeAttribute("aria-activedescendant");
  }

  function take(place) {
    const [text] = found[place];
    const end = field.selectionStart;
    field.setRangeText(text, end - word().length, end, "end");
    close();
    tell([]);
    input?.();
  }

  function key(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      close();
      return run?.();
    }
    if (!found.length) return undefined;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      choice = (choice + (event.key === "ArrowDown" ? 1 : found.length - 1)) % found.length;
      hasChosen = true;
      offer();
    } else if (event.key === "Tab" || (event.key === "Enter" && hasChosen)) take(choice);
    else if (event.key === "Escape") close();
    else return undefined;
    event.preventDefault();
    return undefined;
  }

  draw();
  return {
    root, field, tell, complete,
    get value() { return field.value; },
    set value(text) { field.value = text; tell([]); close(); },
  };
}

/** The words that begin like this, then those in which it stands; none if it is whole. */
function matching(words, begun) {
  const small = begun.toLowerCase();
  const rank = ([text]) => {
    const lower = text.toLowerCase();
    if (lower.startsWith(small)) return 0;
    return lower.split(/[:_.]/).some((part) => part.startsWith(small)) ? 1 : 2;
  };
  const found = words.filter((one) => rank(one) < 2 && one[0] !== begun);
  return found.sort((a, b) => rank(a) - rank(b)).slice(0, SHOWN);
}
