// Makes elements. What comes from the database becomes text, never markup.

let prefixes = [];

/** Let IRIs be shown with these prefixes, the longest that fits. */
export function usePrefixes(given) {
  prefixes = Object.entries(given).sort(([, a], [, b]) => b.length - a.length);
}

/** An element. Functions among the properties are listeners, `class` and others are attributes. */
export function el(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child != null && child !== false));
  return made;
}

export const button = (said, click, properties = {}) =>
  el("button", { type: "button", click, ...properties }, said);

/** An IRI with its prefix, if it has one. */
export function short(text) {
  const found = prefixes.find(([, iri]) => text.startsWith(iri) && text.length > iri.length);
  if (!found) return text;
  const rest = text.slice(found[1].length);
  return /^[\w.-]+$/.test(rest) ? `${found[0]}:${rest}` : text;
}

/** A predicate as it is written in rules. */
export function written(name) {
  const shorter = short(name);
  if (shorter !== name) return shorter;
  if (/^[^\W\d]\w*$/.test(name)) return name;
  return /^[^\s<>"{}|\\^`]*$/.test(name) ? `<${name}>` : `\`${name}\``;
}

/** A value as people see it. */
export function shown(value) {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(shown).join(", ");
  if (typeof value === "number") return figure(value);
  if (typeof value === "object") return JSON.stringify(value);
  return typeof value === "string" ? short(value) : String(value);
}

/** A number without the noise of binary floats: 15.3, not 15.300000000000004. */
export const figure = (value) =>
  Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(12)));

export const many = (count, one, several = `${one}s`) =>
  `${grouped(count)} ${count === 1 ? one : several}`;

export const grouped = (count) => Number(count).toLocaleString("en");

/** A moment, in the time zone of the browser. */
export const moment = (date) => date.toLocaleString("sv-SE");

export function duration(seconds) {
  if (seconds == null) return "";
  if (seconds < 1) return `${Number((seconds * 1000).toPrecision(2))} ms`;
  return seconds < 100 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds / 60)} min`;
}

/** A table. A cell is text, or an element. Columns of numbers stand to the right. */
export function table(names, rows, { head = (name) => short(name), label } = {}) {
  const right = names.map((_, place) => rows.some((row) => typeof row[place] === "number") &&
    rows.every((row) => row[place] == null || typeof row[place] === "number"));
  const cell = (value, place) => {
    if (value instanceof Node) return el("td", {}, value);
    const text = shown(value);
    const whole = typeof value === "string" && value !== text ? value : null;
    return el("td", { class: right[place] ? "number" : null, title: whole }, text);
  };
  return el("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": label ?? "Table" },
    el("table", {},
      el("thead", {}, el("tr", {}, names.map((name, place) =>
        el("th", { scope: "col", class: right[place] ? "number" : null }, head(name))))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map(cell))))));
}

/** A drawing that the server made. */
export function drawing(svg, label) {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  if (parsed.localName !== "svg") throw new Error("the drawing cannot be read");
  const made = document.importNode(parsed, true);
  made.setAttribute("role", "img");
  made.classList.add("drawing");
  return el("div", { class: "scrolled paper", tabindex: "0", role: "region", "aria-label": label }, made);
}

/** Say what is wrong, in a place of its own. */
export const wrong = (error) => el("p", { class: "wrong", role: "alert" },
  error instanceof TypeError ? "The server does not answer." : error.message);

/** Fill a place when work is done. What was asked for later comes in later, whatever is quicker. */
export async function fill(place, work) {
  const turn = (place.turn = (place.turn ?? 0) + 1);
  place.setAttribute("aria-busy", "true");
  let made;
  try {
    made = await work();
  } catch (error) {
    made = wrong(error);
  }
  if (turn !== place.turn) return;
  place.removeAttribute("aria-busy");
  place.replaceChildren(...[made].flat().filter((one) => one != null));
}

/** A window over the page, which Escape closes. */
export function openWindow(title, ...content) {
  const place = document.getElementById("window");
  place.replaceChildren(
    el("header", {}, el("h2", { id: "window-title" }, title),
      button("Close", () => place.close(), { class: "plain" })),
    el("div", { class: "inside" }, content));
  if (!place.open) place.showModal();
  return place;
}

export const wide = () => matchMedia("(min-width: 700px)").matches;
