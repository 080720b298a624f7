// What happens: the last changes, violated constraints, the lag of streams, the rate.

import { lineChart } from "./chart.js";
import { json } from "./server.js";
import { duration, el, fill, grouped, many, short, table } from "./show.js";
import { whyButton } from "./why.js";

const PAUSE = 1000;
const RATE_OVER = 10, LONG = 0.5;  // seconds

export function make() {
  const tiles = el("div", { class: "tiles" }), working = el("div", { role: "status" });
  const last = el("div", {}), violated = el("div", {}), lag = el("div", {});
  const root = el("section", { "aria-label": "Now" },
    working, tiles, violated, lag, el("h2", {}, "Last changes"), last);
  const trouble = document.getElementById("trouble");
  let seen = -1, timer = null, constraints = [];
  const samples = [];  // of the last seconds

  async function look() {
    clearTimeout(timer);
    if (root.hidden) return;
    try {
      if (!document.hidden || seen < 0) await update();
      trouble.hidden = true;
    } catch (error) {
      trouble.textContent = error.status ? error.message :
        "The server does not answer any more. This page tries again.";
      trouble.hidden = false;
    }
    timer = setTimeout(look, PAUSE);
  }

  async function update() {
    const told = await json("recent?limit=60");
    if (told.totals.changes !== seen) constraints = (await json("constraints")).rows;
    working.replaceChildren(...workOf(told));
    showTiles(tiles, told, constraints, samples);
    if (told.totals.changes === seen) return;
    seen = told.totals.changes;
    last.replaceChildren(lastChanges(told.changes));
    lag.replaceChildren(...lagOf(told.changes));
    await fill(violated, () => violations(constraints));
  }

  return { root, enter: look };
}

function showTiles(place, { totals, changes, started, now }, constraints, samples) {
  const newest = changes.at(-1);
  const moved = totals.inserted + totals.deleted;
  samples.push({ now, changes: totals.changes, moved });
  while (samples[0].now < now - RATE_OVER) samples.shift();
  const first = samples[0], passed = Math.max(now - first.now, 1);
  const per = (count) => grouped(Number((count / passed).toPrecision(2)));
  const tile = (name, value, more) => el("div", { class: "tile" },
    el("span", { class: "name" }, name), el("strong", {}, value), el("span", { class: "more" }, more));
  place.replaceChildren(
    tile("Changes", grouped(totals.changes), `since ${clock(started)}`),
    tile("Rate", `${per(totals.changes - first.changes)} /s`, `${per(moved - first.moved)} facts /s, last ${RATE_OVER} s`),
    tile("Last change", newest ? duration(newest.seconds) : "–", newest ? ago(now - newest.at) : "none yet"),
    tile("Stream lag", newest?.lag == null ? "–" : duration(newest.lag),
      newest?.lag == null ? "no stream" : `${many(newest.waiting, "update")} waiting`),
    tile("Violations", grouped(constraints.reduce((sum, one) => sum + one.violations, 0)),
      many(constraints.length, "constraint")));
}

/** What is being computed, once it takes long enough to be seen. */
function workOf({ working, waiting, now }) {
  if (!working || now - working.since < LONG) return [];
  const at = working.hypernode ? `: hypernode ${working.hypernode}, ${working.done + 1} of ${working.total}` : "";
  return [el("p", { class: "done" }, `A change has been under way for ${duration(now - working.since)}${at}. `,
    working.total ? el("progress", { value: working.done, max: working.total, "aria-label": "Hypernodes done" }) : null,
    waiting ? ` ${many(waiting, "other")} ${waiting === 1 ? "waits" : "wait"}.` : null)];
}

function lastChanges(changes) {
  if (!changes.length) return el("p", { class: "quiet" },
    "Nothing has changed since the server began. What changes is shown here at once.");
  const rows = changes.toReversed().slice(0, 20).map((one) => [
    clock(one.at), moves(one.inserted, "entered"), moves(one.deleted, "left"), duration(one.seconds),
    one.violations ? el("span", { class: "bad" }, many(one.violations, "violation")) : "",
  ]);
  return table(["time", "entered", "left", "took", ""], rows, { label: "Last changes" });
}

/** How many facts moved, by predicate. */
export function moves(counts, way) {
  const sign = way === "entered" ? "+" : "−";
  return el("span", { class: "moves" }, Object.entries(counts).map(([name, count]) =>
    el("a", { class: way, href: `#facts/${encodeURIComponent(name)}`, title: name },
      `${sign}${grouped(count)} ${short(name)}`)));
}

function lagOf(changes) {
  const points = changes.filter((one) => one.lag != null).map((one) => [one.at * 1000, one.lag]);
  if (points.length < 2) return [];
  return [el("h2", {}, "Lag of the stream"),
    lineChart([{ name: "lag in seconds", points }], { label: "Lag of the stream, in seconds", time: true })];
}

async function violations(constraints) {
  if (!constraints.some((one) => one.violations)) return [];
  const { rows } = await json("violations");
  return [el("h2", {}, "Violated constraints"), table(["constraint", "violated by", ""],
    rows.map((row) => [row.constraint, row.violation, whyButton(row.fact)]), { label: "Violations" })];
}

const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString("en-GB");

function ago(seconds) {
  if (seconds < 60) return `${Math.max(0, Math.round(seconds))} s ago`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds / 3600)} h ago`;
}
