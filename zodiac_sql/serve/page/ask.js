// Questions in the language of rules, SQL and SPARQL: tables, CSV, a chart, what was asked before.

import { lineChart, seriesOf } from "./chart.js";
import { makeEditor } from "./editor.js";
import { asked, read } from "./server.js";
import { button, duration, el, fill, grouped, many, table, wrong } from "./show.js";
import { outline } from "./why.js";
import { learnWords, wordsOf } from "./words.js";

const MOST = 100_000, SHOWN = 200, KEPT = 50;
const LANGUAGES = { rules: "Rules", sql: "SQL", sparql: "SPARQL" };
const EXAMPLES = {
  rules: "anomaly(X), readings(X, T), T > 30",
  sql: "SELECT * FROM anomaly LIMIT 10",
  sparql: "SELECT ?s ?p ?o { ?s ?p ?o } LIMIT 10",
};

export function make(known) {
  let language = "rules";
  const place = el("div", { class: "result" }), before = el("ol", { class: "history" });
  const editor = makeEditor({ label: "Question", rows: 5, words: () => wordsOf(language, known), run });
  const choices = el("div", { class: "choices", role: "group", "aria-label": "Language" },
    Object.entries(LANGUAGES).map(([name, said]) => button(said, () => choose(name), { value: name })));
  const root = el("section", { "aria-label": "Ask" },
    el("div", { class: "bar" }, choices), editor.root,
    el("div", { class: "bar" }, button("Ask", run, { class: "main", title: "Ctrl-Enter" }),
      el("span", { class: "quiet" }, "or Ctrl-Enter")),
    place,
    el("details", { open: true }, el("summary", {}, "Asked before"), before));

  function choose(name) {
    language = name;
    for (const one of choices.children) one.setAttribute("aria-pressed", String(one.value === name));
    editor.field.placeholder = EXAMPLES[name];
    editor.tell([]);
  }

  async function run() {
    const text = editor.value.trim();
    if (!text) return editor.field.focus();
    editor.tell([]);
    await fill(place, async () => {
      try {
        const started = performance.now();
        const answer = await answered(language, text);
        remember(language, text);
        return answer.graph ? outline(answer.graph) : shownAnswer(answer, language, text, (performance.now() - started) / 1000);
      } catch (error) {
        editor.tell(error.problems ?? []);
        return wrong(error);
      }
    });
    return undefined;
  }

  function remember(name, text) {
    const others = history().filter((one) => one.language !== name || one.text !== text);
    localStorage.setItem(key, JSON.stringify([{ language: name, text }, ...others].slice(0, KEPT)));
    showHistory();
  }

  const key = `zodiac asked ${known.file}`;
  const history = () => JSON.parse(localStorage.getItem(key) ?? "[]");

  function showHistory() {
    const all = history();
    before.replaceChildren(...all.map((one) => el("li", {}, button(one.text, () => {
      choose(one.language);
      editor.value = one.text;
      editor.field.focus();
    }, { class: "plain code" }), el("small", {}, LANGUAGES[one.language]))));
    if (!all.length) before.replaceChildren(el("li", { class: "quiet" }, "Nothing yet."));
  }

  choose(language);
  showHistory();

  function enter() {
    editor.field.focus();
    learnWords().then(() => editor.field === document.activeElement && editor.complete(), () => {});
  }

  return { root, enter };
}

/** Names and rows of an answer; the text of a graph. */
async function answered(language, text) {
  if (language === "sparql") {
    const accept = "application/sparql-results+json, text/turtle;q=0.9";
    const answer = await asked("sparql", { body: text, type: "application/sparql-query", accept });
    const told = await answer.text();
    return answer.headers.get("content-type").startsWith("text/turtle") ? { graph: told } : fromSparql(read(told));
  }
  const body = language === "sql" ? { sql: text, max_rows: MOST } : { goals: text, max_rows: MOST };
  const told = read(await (await asked(language === "sql" ? "sql" : "query", { body })).text());
  const names = told.rows.length ? Object.keys(told.rows[0]) : [];
  return { names, rows: told.rows.map((row) => names.map((name) => row[name])), notes: told.notes };
}

function fromSparql(told) {
  if (told.boolean !== undefined) return { names: ["holds"], rows: [[told.boolean]], notes: [] };
  const value = (term) => {
    if (!term) return null;
    const isNumber = /#(integer|decimal|double|float|int|long)$/.test(term.datatype ?? "");
    return isNumber && Number.isFinite(Number(term.value)) ? Number(term.value) : term.value;
  };
  const names = told.head.vars;
  return { names, rows: told.results.bindings.map((one) => names.map((name) => value(one[name]))), notes: [] };
}

function shownAnswer({ names, rows, notes }, language, text, seconds) {
  const said = rows.length > SHOWN ? `${many(rows.length, "row")}, the first ${SHOWN} shown` : many(rows.length, "row");
  const series = seriesOf(names, rows.slice(0, 5000));
  const place = el("div", {});
  const show = (count) => place.replaceChildren(table(names, rows.slice(0, count), { head: (name) => name, label: "Answer" }),
    count < rows.length ? button(`Show ${grouped(Math.min(rows.length - count, 1000))} more`, () => show(count + 1000)) : "");
  if (rows.length) show(SHOWN);
  return [
    el("div", { class: "bar" }, el("strong", {}, `${said}, ${duration(seconds)}`),
      button("CSV", (event) => download(event.target, language, text), { title: "Download as CSV" })),
    ...notes.map((note) => el("p", { class: "quiet" }, `Note: ${note}`)),
    series.length ? lineChart(series, { label: `Chart of ${series.map((one) => one.name).join(", ")}`, time: true }) : null,
    place,
  ];
}

/** The whole answer as a file, as the server writes it. */
async function download(pressed, language, text) {
  pressed.disabled = true;
  try {
    const type = language === "sparql" ? "application/sparql-query" : "text/plain";
    const path = { rules: "query", sql: "sql", sparql: "sparql" }[language];
    const answer = await asked(path, { body: text, type, accept: "text/csv" });
    const link = el("a", { href: URL.createObjectURL(await answer.blob()), download: "answer.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  } catch (error) {
    pressed.after(wrong(error));
  } finally {
    pressed.disabled = false;
  }
}
