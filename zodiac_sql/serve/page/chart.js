// A line chart: one line for each series, over numbers or times.

import { el, figure } from "./show.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 260, LEFT = 56, RIGHT = 12, TOP = 12, BOTTOM = 30;
const MOST = 6;

/** `series` have a name, and points [x, y]; x is in milliseconds if it is a time. */
export function lineChart(series, { label, time }) {
  const width = Math.max(300, Math.min(innerWidth - 60, 1150));  // so that letters have their size
  const drawn = series.slice(0, MOST);
  const all = drawn.flatMap((one) => one.points);
  const across = span(all.map(([x]) => x)), up = span(all.map(([, y]) => y));
  const x = (value) => LEFT + ((value - across.low) / (across.high - across.low)) * (width - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - ((value - up.low) / (up.high - up.low)) * (HEIGHT - TOP - BOTTOM);
  const svg = node("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, class: "chart", role: "img", "aria-label": label });
  for (const value of ticks(up, 5)) {
    svg.append(node("line", { x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value), class: "grid" }),
      text(figure(value), { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }));
  }
  const parts = width < 600 ? 2 : 4;
  const steps = time ? Array.from({ length: parts + 1 }, (_, n) => across.low + ((across.high - across.low) * n) / parts) : ticks(across, 5);
  steps.forEach((value, place) => {
    const anchor = time && place === 0 ? "start" : time && place === steps.length - 1 ? "end" : "middle";
    svg.append(text(time ? moment(value, across) : figure(value), { x: x(value), y: HEIGHT - 8, "text-anchor": anchor }));
  });
  drawn.forEach(({ points }, place) => {
    const line = points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`).join(" ");
    svg.append(node("polyline", { points: line, class: `line s${place}` }));
    if (points.length < 60) svg.append(...points.map(([px, py]) =>
      node("circle", { cx: x(px).toFixed(1), cy: y(py).toFixed(1), r: 2.5, class: `dot s${place}` })));
  });
  const more = series.length > MOST ? el("span", {}, `and ${series.length - MOST} more`) : null;
  return el("figure", {}, svg, el("figcaption", {},
    drawn.map((one, place) => el("span", { class: `key s${place}` }, one.name)), more));
}

/** The series in an answer: a column of times, and one or more of numbers; or none. */
export function seriesOf(names, rows) {
  const column = (place) => rows.map((row) => row[place]).filter((value) => value != null);
  const all = (place, is) => column(place).length > 1 && column(place).every(is);
  const when = names.findIndex((_, place) => all(place, isTime));
  const numbers = names.map((_, place) => place).filter((place) => all(place, (value) => typeof value === "number"));
  if (when < 0 || !numbers.length) return [];
  const texts = names.map((_, place) => place).filter((place) => place !== when && all(place, (value) => typeof value === "string"));
  const points = (some, place) => some.filter((row) => row[when] != null && row[place] != null)
    .map((row) => [Date.parse(row[when]), row[place]]).sort((a, b) => a[0] - b[0]);
  if (texts.length === 1 && numbers.length === 1) {
    const groups = Map.groupBy ? Map.groupBy(rows, (row) => row[texts[0]]) : new Map([[names[numbers[0]], rows]]);
    return [...groups].map(([name, some]) => ({ name, points: points(some, numbers[0]) }));
  }
  return numbers.map((place) => ({ name: names[place], points: points(rows, place) }));
}

const isTime = (value) =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)/.test(value) && !Number.isNaN(Date.parse(value));

function span(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low === high ? { low: low - 1, high: high + 1 } : { low, high };
}

/** Round numbers in a span. */
function ticks({ low, high }, count) {
  const rough = (high - low) / count, size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * size).find((one) => one >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) found.push(value);
  return found;
}

function moment(value, { low, high }) {
  const date = new Date(value), day = 86_400_000;
  if (high - low > 3 * day) return date.toLocaleDateString("en-GB");
  const seconds = high - low < 600_000 ? { second: "2-digit" } : {};
  if (high - low < 10_000) seconds.fractionalSecondDigits = 1;
  return date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", ...seconds });
}

function node(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function text(said, attributes) {
  const made = node("text", attributes);
  made.textContent = said;
  return made;
}
