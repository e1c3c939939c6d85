// What the rows come to: time by bottleneck, phases, kernels without FLOP, warnings, the machine, how the page was
// made.
import type {BoundColors} from "./bounds";
import {nounOf, type MachineFacts, type PageData, type Palette, type Row, type Sum, type View} from "./data";
import {boundTitle} from "./details";
import {el, nameOf} from "./dom";
import {NONE, count, percent, plural, quantity} from "./format";
import type {State} from "./state";

export function card(id: string, title: string, ...content: (Node|string|false|null)[]): HTMLElement {
  return el(
      "section", {class: "card", id, "aria-labelledby": `${id}-title`}, el("h2", {id: `${id}-title`}, title),
      ...content);
}

export function timeByBound(
    rows: Row[], data: PageData, colors: BoundColors, palette: Palette, dark: boolean): HTMLElement {
  const sums = new Map < string, {
    time: number;
    kernels: number
  }
  > ();
  let whole = 0;
  for (const r of rows) {
    const sum = sums.get(r.bound) ?? {time: 0, kernels: 0};
    sum.time += r.time ?? 0;
    sum.kernels++;
    whole += r.time ?? 0;
    sums.set(r.bound, sum);
  }
  const list = [...sums].sort((a, b) => b[1].time - a[1].time);
  const bar =
      el("div", {class: "bar", "aria-hidden": "true"},
         ...list.map(
             ([bound, s]) => el("div", {
               style: `flex:${whole > 0 ? s.time / whole : 0} 0 0;background:${colors.color(bound, palette, dark)}`,
               title: boundTitle(bound, data)
             })));
  const lines = list.map(
      ([bound, s]) =>
          el("tr", {},
             el("th", {scope: "row"},
                el("span",
                   {class: "swatch", style: `background:${colors.color(bound, palette, dark)}`, "aria-hidden": "true"}),
                boundTitle(bound, data)),
             el("td", {}, quantity(s.time, "s")), el("td", {}, percent(whole > 0 ? s.time / whole : null)),
             el("td", {}, count(s.kernels))));
  const head = el("tr", {}, ...["Bound by", "Time", "Share", "Rows"].map((t) => el("th", {scope: "col"}, t)));
  return card(
      "bounds", "Time by bottleneck", bar,
      el("table", {class: "small"}, el("thead", {}, head), el("tbody", {}, ...lines)));
}

export function originLegend(): HTMLElement {
  return el(
      "p", {class: "note", id: "origin-legend"},
      "Marks: full ● measured, hollow ○ modelled, small hollow ○ simulated bytes at the measured time. The sliders " +
          "move the modelled ones.");
}

function sumLine(s: Sum, whole: number, levels: string[]): HTMLElement {
  return el(
      "tr", {}, el("th", {scope: "row"}, nameOf(s.name || "(no phase)")), el("td", {}, count(s.launches)),
      el("td", {}, s.time_text ?? NONE), el("td", {}, whole > 0 && s.time !== null ? percent(s.time / whole) : NONE),
      el("td", {}, s.flop_text ?? NONE), ...levels.map((l) => el("td", {}, s.bytes?.[l] ?? NONE)),
      el("td", {}, s.launches > 0 ? percent(s.zero_launches / s.launches) : NONE));
}

export function totals(view: View): HTMLElement {
  const sums = [...(view.phases ?? []), view.total!];
  const levels = ["shared", "L1", "L2", "L3", "DRAM"].filter((l) => sums.some((s) => s.bytes?.[l]));
  const head = ["Phase", "Launches", "Time", "of time", "FLOP", ...levels, "zero-FLOP launches"];
  return card(
      "totals", "Totals per phase",
      el("div", {class: "wide", tabindex: 0, role: "region", "aria-label": "Totals, table"},
         el("table", {class: "small"}, el("thead", {}, el("tr", {}, ...head.map((t) => el("th", {scope: "col"}, t)))),
            el("tbody", {}, ...sums.map((s) => sumLine(s, view.whole_time ?? 0, levels))))));
}

export function zeroFlop(view: View): HTMLElement|null {
  if (!view.zero_flop) return null;
  return card(
      "zero-flop", "Kernels without FLOP",
      el("p", {},
         view.zero_flop.text ? `${view.zero_flop.text}.` : "None: every kernel whose work is known did some."));
}

export function warnings(view: View, rows: Row[], machine: number, only: (which: State["only"]) => void): HTMLElement {
  const items: HTMLElement[] = [];
  const listed = (n: number, text: string, which: State["only"]) => {
    if (n > 0)
      items.push(
          el("li", {}, text, " ",
             el("button", {type: "button", class: "plain", "data-only": which, click: () => only(which)},
                "show only these")));
  };
  const noun = nounOf(view, rows);
  const above = rows.filter((r) => r.above).length, incomplete = rows.filter((r) => r.incomplete).length;
  listed(
      above, `${plural(above, noun)} above a roof, which cannot be: time, counters or machine do not fit together.`,
      "above");
  listed(incomplete, `${plural(incomplete, noun)} with amounts that are missing or not to be trusted.`, "incomplete");
  listed(
      rows.filter((r) => r.side !== 0).length,
      `${plural(rows.filter((r) => r.side !== 0).length, noun)} without a partner on the other side.`, "unmatched");
  const clocks = view.charts?.[machine]?.clocks_differ;
  if (clocks) items.push(el("li", {id: "mixed-clocks"}, `Mixed clocks. ${clocks}`));
  for (const note of view.notes ?? []) items.push(el("li", {}, nameOf(note)));
  for (const sentence of view.charts?.[machine]?.caption ?? [])
    if (sentence !== clocks) items.push(el("li", {}, sentence));
  return card("warnings", "Warnings and notes", items.length ? el("ul", {}, ...items) : el("p", {}, "None."));
}

export function machineCard(m: MachineFacts): HTMLElement {
  const sections = m.sections.map(
      (s) =>
          el("details", {open: s.heading.startsWith("Roofs")}, el("summary", {}, s.heading),
             el("table", {class: "facts"},
                el("thead", {},
                   el("tr", {}, ...["What", "Value", "Origin", "Source"].map((t) => el("th", {scope: "col"}, t)))),
                el("tbody", {},
                   ...s.lines.map(
                       ([what, value, origin, cite]) =>
                           el("tr", {}, el("th", {scope: "row"}, what), el("td", {}, value),
                              el("td", {}, el("span", {class: `origin ${origin}`}, origin)),
                              el("td", {class: "cite"}, cite)))))));
  return card(
      "machine-facts", m.name || m.id || "Machine", el("p", {}, m.about), m.note && el("p", {}, m.note), ...sections);
}

const madeBy = (what: string, version: string, command: string) =>
    el("p", {}, `${what} by gambrel ${version}`, command ? " with " : "", command && el("code", {}, command));

// A view that was taken over from another page says what made it there.
export function footer(data: PageData, view: View|undefined): HTMLElement {
  const taken = view && view.command !== data.command;
  return el(
      "footer", {}, taken && madeBy("This view was made", view.version, view.command),
      madeBy(taken ? "The page was joined" : "Made", data.version, data.command));
}

export function nothingToShow(data: PageData): HTMLElement[] {
  return [
    el("main", {}, el("h1", {}, data.title || "gambrel"),
       el("p", {}, "There is nothing to show: the page was made without views.")),
    footer(data, undefined)
  ];
}
