// Rule sets and their rules: edit, preview, apply; drop; switch a set off and on.

import { makeEditor } from "./editor.js";
import { SAMPLES, done, previewed } from "./preview.js";
import { address, json } from "./server.js";
import { button, el, fill, many, openWindow, table, wrong } from "./show.js";
import { learnWords, wordsOf } from "./words.js";

export function make(known) {
  const sets = el("div", { class: "sets" }), listed = el("div", {}), result = el("div", { class: "result" });
  const editor = makeEditor({
    label: "Text of the rules", rows: 14, words: () => wordsOf("rules", known), run: preview, input: changed,
  });
  const heading = el("h2", {});
  const revert = button("Revert", () => open(chosen), { disabled: true });
  const look = button("Preview", preview, { title: "Ctrl-Enter", class: "main" });
  const apply = button("Apply", carryOut, { disabled: true });
  const root = el("section", { "aria-label": "Rules" },
    el("h2", {}, "Rule sets"), sets, heading,
    el("p", { class: "quiet" }, "Facts and declarations of the set are not in this text; they stay."),
    editor.root, el("div", { class: "bar" }, look, apply, revert), result,
    el("h2", {}, "All rules"), listed);
  let chosen = "main", was = { text: "", rules: [] }, seen = null, first = true;

  /** The change that makes the text the rules of the set. */
  const change = () => ({
    set: chosen, drop: was.rules, ...(editor.value.trim() ? { add: editor.value } : {}),
  });

  async function preview() {
    editor.tell([]);
    apply.disabled = true;
    const text = editor.value;
    await fill(result, async () => {
      try {
        const wanted = change();
        const told = await json("rules", { body: { ...wanted, preview: true, samples: SAMPLES } });
        seen = text;
        apply.disabled = !known.writes || editor.value !== text;
        return previewed(told, wanted);
      } catch (error) {
        editor.tell(error.problems ?? []);
        return error.problems?.length
          ? el("p", { class: "wrong", role: "alert" }, `${many(error.problems.length, "problem")} in the text. Nothing was changed.`)
          : wrong(error);
      }
    });
  }

  async function carryOut() {
    apply.disabled = true;
    await fill(result, async () => {
      const told = await json("rules", { body: change() });
      forget(chosen);
      await refresh();
      return done(told);
    });
  }

  function changed() {
    revert.disabled = editor.value === was.text;
    if (editor.value !== seen) apply.disabled = true;
  }

  async function open(name) {
    chosen = name;
    was = off()[name] === undefined ? await json(address("text", { set: name })).catch(none) : none();
    editor.value = off()[name] ?? was.text;
    seen = null;
    result.replaceChildren();
    heading.textContent = `Text of ${name}`;
    changed();
    apply.disabled = true;
    for (const one of sets.querySelectorAll("[data-set]")) mark(one);
  }

  const none = () => ({ text: "", rules: [] });
  const mark = (one) => one.setAttribute("aria-pressed", String(one.dataset.set === chosen));

  async function refresh() {
    const [all, rules] = await Promise.all([json("sets"), json("rules"), learnWords()]);
    const gone = Object.keys(off()).map((name) => ({ set: name, off: true }));
    const present = all.rows.filter((one) => off()[one.set] === undefined);
    sets.replaceChildren(...[...present, ...gone].map(setShown), button("New set…", newSet, { class: "plain" }));
    was = await json(address("text", { set: chosen })).catch(none);
    changed();
    listed.replaceChildren(rules.rows.length ? table(["name", "rule", "sets", ""], rules.rows.map((one) => [
      one.name, el("code", {}, one.rule), one.sets.join(", "),
      button("drop…", () => dropRule(one), { class: "plain small", "aria-label": `Drop ${one.name}`, disabled: !known.writes }),
    ]), { label: "All rules" }) : el("p", { class: "quiet" }, "There are no rules yet. Write some above."));
  }

  function setShown(one) {
    const opener = button(`${one.set} `, () => open(one.set), { "data-set": one.set, class: "set" });
    mark(opener);
    const flip = el("input", {
      type: "checkbox", role: "switch", "aria-label": `${one.set} is at work`, checked: !one.off,
      disabled: !known.writes,
      click: (event) => { event.preventDefault(); one.off ? switchOn(one.set) : switchOff(one.set); },
    });
    return el("span", { class: "chip" }, opener,
      el("small", {}, one.off ? "off" : many(one.rules, "rule")), flip);
  }

  function newSet() {
    const field = el("input", { required: true, "aria-label": "Name", autocomplete: "off" });
    const take = (event) => {
      event.preventDefault();
      if (!field.value.trim()) return;
      open(field.value.trim());
      document.getElementById("window").close();
      editor.field.focus();
    };
    openWindow("New rule set", el("form", { class: "bar", submit: take },
      el("label", {}, "Name ", field), button("Write it", take, { type: "submit", class: "main" })));
    field.focus();
  }

  /** Drop what a set has. Its text stays in this browser, to be switched on again. */
  async function switchOff(name) {
    const { text, rules } = await json(address("text", { set: name }));
    if (!rules.length) return;
    confirm(`Switch off ${name}?`, { drop: rules, set: name }, () => {
      keep({ ...off(), [name]: text });
      return open(name);
    });
  }

  async function switchOn(name) {
    await open(name);
    await preview();
  }

  const dropRule = (one) => confirm(`Drop ${one.name}?`, { drop: [one.name] }, () => open(chosen));

  /** Show what a change would do, and do it if that is wanted. */
  function confirm(title, body, then) {
    const place = el("div", {});
    const yes = button("Apply", async () => {
      yes.disabled = true;
      await fill(place, async () => {
        const told = await json("rules", { body });
        await then();
        await refresh();
        result.replaceChildren(done(told));
        document.getElementById("window").close();
      });
    }, { class: "main", disabled: true });
    openWindow(title, place, el("div", { class: "bar" }, yes));
    fill(place, async () => {
      const told = await json("rules", { body: { ...body, preview: true, samples: SAMPLES } });
      yes.disabled = false;
      yes.focus();
      return previewed(told, body);
    });
  }

  // Texts of sets that are switched off, in this browser.

  const key = `zodiac off ${known.file}`;
  const off = () => JSON.parse(localStorage.getItem(key) ?? "{}");
  const keep = (texts) => localStorage.setItem(key, JSON.stringify(texts));
  const forget = (name) => {
    const texts = off();
    delete texts[name];
    keep(texts);
  };

  async function enter() {
    try {
      const before = was.text;
      await refresh();
      if (first || editor.value === before) await open(chosen);
      else if (was.text !== before) result.replaceChildren(el("p", { class: "wrong" },
        `The rules of ${chosen} have changed meanwhile. To apply this text would undo that; Revert shows them.`));
      first = false;
    } catch (error) {
      listed.replaceChildren(wrong(error));
    }
  }

  return { root, enter };
}
