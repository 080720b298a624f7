// Predicates and their facts: a filter, an order, pages; why each holds; what changed.

import { address, json, part } from "./server.js";
import { button, el, fill, grouped, many, moment, shown, short, table, wide, written } from "./show.js";
import { whyButton, whyNot } from "./why.js";

const PAGE = 50;

export function make() {
  const list = el("div", { class: "names" }), facts = el("div", {});
  const search = el("input", {
    type: "search", placeholder: "Find a predicate", "aria-label": "Find a predicate",
    input: () => showNames(),
  });
  const aside = el("details", { class: "aside", open: wide() },
    el("summary", {}, "Predicates"), search, list);
  const root = el("section", { class: "beside", "aria-label": "Facts" }, aside, facts);
  let names = [], chosen = "", kept = { all: false, names: new Set() };

  function showNames() {
    const wanted = search.value.toLowerCase();
    const found = names.filter((one) => short(one.predicate).toLowerCase().includes(wanted));
    list.replaceChildren(...found.map((one) => el("a", {
      href: `#facts/${encodeURIComponent(one.predicate)}`, title: one.predicate,
      "aria-current": one.predicate === chosen ? "true" : null,
    }, el("span", {}, short(one.predicate)), el("span", { class: "count" }, grouped(one.extension)))));
    if (!found.length) list.replaceChildren(el("p", { class: "quiet" }, "None."));
  }

  async function enter(name) {
    await fill(facts, async () => {
      const [predicates, feed] = await Promise.all([json("predicates"), json("feed")]);
      names = predicates.rows.sort((a, b) => (short(a.predicate) < short(b.predicate) ? -1 : 1));
      kept = { all: feed.rows.some((row) => row.predicate === null),
               names: new Set(feed.rows.map((row) => row.predicate)) };
      chosen = name || chosen || names.find((one) => one.derived)?.predicate || names[0]?.predicate || "";
      showNames();
      const one = names.find((known) => known.predicate === chosen);
      if (!one) return el("p", { class: "quiet" },
        chosen ? `There is no predicate ${chosen}.` : "There are no predicates yet.");
      if (name && !wide()) aside.open = false;
      return factsOf(one, kept.all || kept.names.has(one.predicate));
    });
  }

  return { root, enter };
}

/** The facts of a predicate, with what one can do with them. */
function factsOf(one, isKept) {
  const order = { sort: null, descending: false, offset: 0 };
  const place = el("div", {}), foot = el("div", { class: "pages" });
  let timer = null, asking = new AbortController();
  const filter = el("input", {
    type: "search", placeholder: "Facts with this text", "aria-label": "Facts with this text",
    input: () => {
      clearTimeout(timer);
      timer = setTimeout(() => look({ offset: 0 }), 200);
    },
  });

  async function look(change = {}) {
    Object.assign(order, change);
    asking.abort();  // the server ends what nobody waits for
    asking = new AbortController();
    const { signal } = asking;
    await fill(place, async () => {
      const asked = { ...order, text: filter.value, limit: PAGE };
      const found = await json(address(`facts/${part(one.predicate)}`, asked), { signal });
      showPages(found);
      const rows = found.rows.map((row, line) => [...row, whyButton(found.goals[line])]);
      if (!rows.length) return el("p", { class: "quiet" },
        found.all ? "No fact has this text." : "It has no facts.");
      return table([...found.columns, ""], rows, { head: sorter, label: `Facts of ${short(one.predicate)}` });
    });
  }

  function sorter(name) {
    if (!name) return el("span", { class: "unseen" }, "reasons");
    const now = order.sort === name;
    const sign = now ? (order.descending ? " ▼" : " ▲") : "";
    const next = { sort: name, descending: now && !order.descending, offset: 0 };
    return button(name + sign, () => look(next), { class: "sorter", title: `Sort by ${name}` });
  }

  function showPages({ matching, all, rows }) {
    const first = order.offset + 1, last = order.offset + rows.length;
    const of = matching === all ? many(all, "fact") : `${grouped(matching)} of ${many(all, "fact")}`;
    foot.replaceChildren(
      button("Previous", () => look({ offset: Math.max(0, order.offset - PAGE) }), { disabled: order.offset === 0 }),
      el("span", {}, rows.length ? `${grouped(first)}–${grouped(last)}, ${of}` : of),
      button("Next", () => look({ offset: order.offset + PAGE }), { disabled: last >= matching }));
  }

  look();
  const kinds = [one.explicit ? `${grouped(one.explicit)} explicit` : "", one.derived ? `${grouped(one.derived)} derived` : ""];
  return [
    el("h2", {}, short(one.predicate)),
    el("p", { class: "quiet" }, `${one.columns || "no columns"}; ${kinds.filter(Boolean).join(", ") || "no facts"}; in SQL `,
      el("code", {}, one.sql_name)),
    el("div", { class: "bar" }, filter, foot),
    place,
    whyNotForm(one),
    ...(isKept ? [changesForm(one)] : []),
  ];
}

function whyNotForm(one) {
  const field = el("input", {
    value: `${written(one.predicate)}(`, "aria-label": "A fact that does not hold", spellcheck: "false",
    class: "code",
  });
  const look = (event) => {
    event.preventDefault();
    whyNot(field.value);
  };
  return el("form", { class: "bar", submit: look },
    el("label", {}, "Why not ", field), button("Why not?", look, { type: "submit" }));
}

function changesForm(one) {
  const since = el("input", { type: "datetime-local", step: "1", "aria-label": "Since" });
  const place = el("div", {});
  const look = (event) => {
    event.preventDefault();
    fill(place, async () => {
      const after = since.value ? new Date(since.value).toISOString() : "";
      const found = await json(address(`moved/${part(one.predicate)}`, { after, limit: 200 }));
      if (!found.entries.length) return el("p", { class: "quiet" }, "Nothing has changed since.");
      const rows = found.entries.toReversed().map((line) => [
        moment(new Date(line._time)),
        el("span", { class: line._change_type === "insert" ? "entered" : "left" },
          line._change_type === "insert" ? "+ entered" : "− left"),
        Object.values(line.fact).map(shown).join(", "),
      ]);
      const said = found.all > rows.length ? `The last ${rows.length} of ${grouped(found.all)}.` : many(found.all, "entry", "entries");
      return [el("p", { class: "quiet" }, said), table(["time", "", "fact"], rows, { label: "What changed" })];
    });
  };
  return el("form", { submit: look, class: "card" },
    el("div", { class: "bar" }, el("label", {}, "Changed since ", since),
      button("Show", look, { type: "submit" })), place);
}
