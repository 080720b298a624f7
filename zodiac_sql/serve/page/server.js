// Asks the server. The token comes in the fragment of the address, which a browser sends to nobody;
// it is kept for this tab only, and taken out of the address.

const KEY = "zodiac token";

/** An answer that is an error. `problems` tells where in a text it is. */
export class Refused extends Error {
  constructor(told, status) {
    super(told.error ?? `the server answered ${status}`);
    this.kind = told.kind ?? "";
    this.problems = told.problems ?? [];
    this.status = status;
  }
}

/** Take the token out of the address. Whether there is one. */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    keepToken(given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(KEY) !== null;
}

export function keepToken(token) {
  sessionStorage.setItem(KEY, token.trim());
}

/** What is answered to a question by GET, or, with a body, by POST. */
export async function asked(path, { body, type, accept, signal } = {}) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}` };
  if (accept) headers.Accept = accept;
  if (body !== undefined) headers["Content-Type"] = type ?? "application/json";
  const sent = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const method = body === undefined ? "GET" : "POST";
  const answer = await fetch(path, { method, headers, body: sent, signal, cache: "no-store" });
  if (!answer.ok) {
    const told = await answer.json().catch(() => ({}));
    throw new Refused(told, answer.status);
  }
  return answer;
}

/** The same, as a value. */
export async function json(path, how) {
  return read(await (await asked(path, how)).text());
}

/** The value of a text of JSON. An integer that JavaScript has no number for is a text. */
export function read(text) {
  return JSON.parse(text, (_, value, context) =>
    typeof value === "number" && context?.source && /^-?\d+$/.test(context.source) &&
    !Number.isSafeInteger(value) ? context.source : value);
}

/** An address with parameters, without those that are empty. */
export function address(path, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "" && value != null);
  const search = new URLSearchParams(given).toString();
  return search ? `${path}?${search}` : path;
}

/** A part of an address. A slash in it stays: predicates can be IRIs. */
export const part = (name) => encodeURIComponent(name).replaceAll("%2F", "/");
