// What a change of rules would do, or has done.

import { moves } from "./now.js";
import { json } from "./server.js";
import { button, duration, el, fill, many, short, shown, table } from "./show.js";
import { outline, readable } from "./why.js";

export const SAMPLES = 5;

/** A preview of a change: facts that would move, hypernodes, and what would be violated. */
export function previewed(told, change) {
  const names = Object.keys(told.samples ?? {});
  const nothing = !names.length && !Object.keys(told.inserted).length && !Object.keys(told.deleted).length;
  return [
    nothing ? el("p", {}, "No fact would enter or leave.") : null,
    ...told.violations.map((one) => el("p", { class: "wrong" }, `It would be refused: ${one}`)),
    ...names.map((name) => el("div", { class: "sample" },
      el("h3", {}, short(name)),
      some(told.samples[name].inserted, told.samples[name].inserted_goals, told.inserted[name], "entered", change),
      some(told.samples[name].deleted, told.samples[name].deleted_goals, told.deleted[name], "left", change))),
    ...told.notes.map((note) => el("p", { class: "quiet" }, `Note: ${note}`)),
    el("p", { class: "quiet" }, `${hypernodes(told.hypernodes)} Computed in ${duration(told.seconds.total)}.`),
  ];
}

/** Facts that would enter or leave. */
function some(facts, goals, count, way, change) {
  if (!count) return null;
  const sign = way === "entered" ? "+" : "−";
  const said = `${sign}${many(count, "fact")} would ${way === "entered" ? "enter" : "leave"}`;
  const more = count > facts.length && facts.length ? `, such as` : "";
  const names = facts.length ? Object.keys(facts[0]) : [];
  const rows = facts.map((fact, place) => [...names.map((name) => fact[name]),
    goals[place] ? button("why?", (event) => because(event.target, goals[place], change), {
      class: "plain small", "aria-label": `Why would ${readable(goals[place])} ${way === "entered" ? "enter" : "leave"}?`,
    }) : ""]);
  return el("div", { class: way }, el("p", {}, said + more),
    names.length ? table([...names, ""], rows, { label: said }) : null);
}

/** Show why a fact would enter or leave, below its row. */
function because(pressed, goal, change) {
  const row = pressed.closest("tr"), place = el("div", {});
  if (row.nextSibling?.classList.contains("because")) return row.nextSibling.remove();
  row.after(el("tr", { class: "because" }, el("td", { colspan: row.children.length }, place)));
  return fill(place, async () => outline((await json("rules", { body: { ...change, preview: true, why: goal } })).why));
}

/** One line about a change that was made. */
export const done = (told) => el("p", { class: "done", role: "status" }, "Done in ", duration(told.seconds.total), ". ",
  moves(told.inserted, "entered"), " ", moves(told.deleted, "left"),
  ...told.notes.map((note) => el("span", { class: "quiet" }, ` Note: ${shown(note)}`)));

function hypernodes(told) {
  const said = [["created", told.created.length], ["merged", Object.keys(told.merged).length],
    ["split", Object.keys(told.split).length], ["dropped", told.dropped.length], ["updated", told.updated.length]]
    .filter(([, count]) => count).map(([name, count]) => `${count} ${name}`);
  return said.length ? `Hypernodes: ${said.join(", ")}.` : "No hypernode changes.";
}
