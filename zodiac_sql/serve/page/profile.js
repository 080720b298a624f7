// How rules are evaluated: the graph of hypernodes, their sizes, and times.

import { asked, json } from "./server.js";
import { button, drawing, duration, el, fill, many, short, table } from "./show.js";

export function make() {
  const graph = el("div", {}), nodes = el("div", {}), spent = el("div", {}), times = el("div", {});
  const measure = button("Evaluate everything once more, aside", () => fill(times, evaluated), { class: "main" });
  const root = el("section", { "aria-label": "Profile" },
    el("h2", {}, "Hypernodes"),
    el("p", { class: "quiet" }, "A hypernode is a set of rules that are evaluated together. Facts flow along the arrows."),
    graph, nodes,
    el("h2", {}, "Times of changes"),
    spent,
    el("h2", {}, "Times from scratch"),
    el("p", { class: "quiet" }, "To measure, all rules are evaluated from scratch in temporary tables. The file stays as it is; it can take long."),
    el("div", { class: "bar" }, measure), times);

  function enter() {
    fill(graph, async () => drawing(await (await asked("graph")).text(), "Graph of hypernodes"));
    fill(nodes, async () => {
      const { rows } = await json("hypernodes");
      if (!rows.length) return el("p", { class: "quiet" }, "There are no rules.");
      return table(["hypernode", "derives", "rules", "facts", "stratum", "kind"], rows.map((one) => [
        one.hypernode, one.derives.map(short).join(", "), one.rules.join(", "), one.rows,
        one.stratum, [one.recursive ? "recursive" : "", ...one.modules.map(bare)].filter(Boolean).join(", "),
      ]), { label: "Hypernodes" });
    });
    fill(spent, inChanges);
  }

  return { root, enter };
}

async function inChanges() {
  const found = await json("profile");
  const rules = found.rules.filter((one) => one.seconds > 0);
  if (!rules.length) return el("p", { class: "quiet" }, "No rule has had work since the file was opened.");
  const most = Math.max(...rules.map((one) => one.seconds));
  return [
    el("p", { class: "quiet" }, `${many(found.changes, "change")} since the file was opened took ${duration(found.seconds)}. Rules, the slowest first:`),
    table(["rule", "hypernode", "all changes", "", "the last", "found", "together with"], rules.map((one) => [
      one.rule, one.hypernode, duration(one.seconds), bar(one.seconds / most),
      one.last_seconds == null ? "–" : duration(one.last_seconds), one.derived ?? "–", one.together.join(", ")]),
    { label: "Times of rules in changes" }),
  ];
}

async function evaluated() {
  const found = await json("explain", { body: {} });
  const most = Math.max(...found.hypernodes.map((one) => one.took_ms), 1);
  return [
    el("h3", {}, "Hypernodes, the slowest first"),
    table(["hypernode", "derives", "time", "", "operator", "why", "rounds", "facts"], found.hypernodes.map((one) => [
      one.hypernode, one.derives.map(short).join(", "), duration(one.took_ms / 1000), bar(one.took_ms / most),
      one.operator, one.why, one.rounds, one.inserted]), { label: "Times of hypernodes" }),
    el("h3", {}, "Rules, the slowest first"),
    table(["rule", "hypernode", "time", "facts", "measured"], found.rules.map((one) => [
      one.rule, one.hypernode, one.ms == null ? "–" : duration(one.ms / 1000), one.facts, one.measured ?? "–"]),
    { label: "Times of rules" }),
    el("p", { class: "quiet" }, `All of it took ${duration(found.seconds)}.`),
  ];
}

/** A module with the prefix of its predicate: stc(wind:near). */
const bare = (module) => module.replace(/\((.*)\)$/, (_, name) => `(${short(name)})`);

const bar = (share) => el("meter", { min: 0, max: 1, value: share, "aria-hidden": "true" });
