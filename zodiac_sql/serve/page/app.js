// The frame of the page: which screen is seen, and whether the server answers.

import * as ask from "./ask.js";
import * as facts from "./facts.js";
import * as now from "./now.js";
import * as profile from "./profile.js";
import * as rules from "./rules.js";
import { json, keepToken, takeToken } from "./server.js";
import { button, el, usePrefixes, wrong } from "./show.js";

const SCREENS = { now, facts, rules, profile, ask };
const made = {};
const place = document.getElementById("screen");
const links = [...document.querySelectorAll("nav a")];

/** What all screens know: names, functions, and whether they may change anything. */
export const known = { file: "", prefixes: {}, functions: [], writes: false };

async function begin() {
  if (!takeToken()) return askForToken();
  try {
    Object.assign(known, await json("names"));
  } catch (error) {
    return error.status === 401 ? askForToken() : place.replaceChildren(wrong(error));
  }
  usePrefixes(known.prefixes);
  const file = document.getElementById("file");
  file.textContent = known.file.split("/").pop() + (known.writes ? "" : " (reading only)");
  file.title = known.file;
  document.title = `${known.file.split("/").pop()} – zodiac`;
  addEventListener("hashchange", show);
  addEventListener("keydown", shortcut);
  await show();
}

async function show() {
  const [name, ...rest] = location.hash.slice(1).split("/");
  const screen = SCREENS[name] ? name : "now";
  for (const link of links) {
    if (link.hash === `#${screen}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  for (const [other, { root }] of Object.entries(made)) root.hidden = other !== screen;
  made[screen] ??= make(screen);
  await made[screen].enter?.(decodeURIComponent(rest.join("/")));
}

function make(screen) {
  const one = SCREENS[screen].make(known);
  one.root.id = `screen-${screen}`;
  place.append(one.root);
  return one;
}

/** 1 to 5 choose a screen, where nobody types. */
function shortcut(event) {
  const typing = event.target.closest?.("input, textarea, select, dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const link = links[Number(event.key) - 1];
  if (link) {
    location.hash = link.hash;
    place.focus();
  }
}

function askForToken() {
  const field = el("input", { id: "token", type: "password", autocomplete: "off", required: true });
  const take = (event) => {
    event.preventDefault();
    keepToken(field.value);
    begin();
  };
  place.replaceChildren(el("form", { class: "card narrow", submit: take },
    el("h2", {}, "This page needs a token"),
    el("p", {}, "Open it with ", el("code", {}, "zodiac ui DB"), ", or enter a token from the file ",
      el("code", {}, "DB.server"), " beside the database."),
    el("label", { for: "token" }, "Token"), field,
    button("Open", take, { type: "submit", class: "main" })));
  field.focus();
}

begin();
