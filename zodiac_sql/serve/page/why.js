// Why a fact holds, or does not: as a drawing or as text, in a window.

import { address, asked } from "./server.js";
import { button, drawing, el, fill, openWindow, short, wide } from "./show.js";

export const whyButton = (goal) =>
  button("why?", () => why(goal), { class: "plain small", "aria-label": `Why ${readable(goal)}?` });

/** A goal as people see it: IRIs have their prefixes. */
export const readable = (goal) =>
  goal.replace(/<([^<>\s]+)>/g, (whole, iri) => (short(iri) === iri ? whole : short(iri)));

export function why(goal) {
  const place = el("div", {});
  const show = (form) => {
    for (const one of choices.children) one.setAttribute("aria-pressed", String(one.value === form));
    fill(place, async () => {
      const accept = form === "drawing" ? "image/svg+xml" : "text/plain";
      const text = await (await asked(address("why", { fact: goal }), { accept })).text();
      return form === "drawing" ? drawing(text, `Proof of ${readable(goal)}`) : outline(text);
    });
  };
  const choices = el("div", { class: "choices", role: "group", "aria-label": "Form of the proof" },
    ["drawing", "text"].map((form) =>
      button(form === "text" ? "Text" : "Drawing", () => show(form), { value: form })));
  openWindow(`Why ${readable(goal)}?`, choices, place);
  show(wide() ? "drawing" : "text");
}

export function whyNot(goal) {
  const place = el("div", {});
  openWindow(`Why not ${readable(goal)}?`, place);
  fill(place, async () => {
    const parameters = { fact: goal, not: "true", depth: 2 };
    return outline(await (await asked(address("why", parameters), { accept: "text/plain" })).text());
  });
}

export const outline = (text) => el("pre", { class: "outline", tabindex: "0" }, text);
