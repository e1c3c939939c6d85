// All that is known of one kernel, for the tooltip and the panel beside the chart.
import type {PageData, Row} from "./data";
import {el, nameOf} from "./dom";
import {NONE, change, count, intensity, percent, plural, quantity} from "./format";

export function boundTitle(bound: string, data: PageData): string {
  return data.pipes[bound]?.title ?? (bound || "not judged");
}
export function precisionTitle(precision: string, data: PageData): string {
  return data.pipes[precision]?.title ?? precision;
}

// At a level: the lower of compute roof and intensity x bandwidth, so the share of the roof is the larger of the two.
function ofRoofAt(row: Row, level: string): number|null {
  const of = row.ofCeiling[level] ?? null;
  if (of === null) return null;
  return row.ofCompute === null ? of : Math.max(of, row.ofCompute);
}

function levelTable(row: Row): HTMLElement {
  const head =
      el("tr", {}, ...["Level", "Bytes", "FLOP/B", "of roof", "of bandwidth"].map((t) => el("th", {scope: "col"}, t)));
  const lines =
      Object.keys(row.bytes)
          .filter((l) => row.bytes[l] !== null)
          .map(
              (level) =>
                  el("tr", {class: row.bound === level ? "binding" : ""}, el("th", {scope: "row"}, level),
                     el("td", {}, quantity(row.bytes[level], "B")), el("td", {}, intensity(row.intensity[level])),
                     el("td", {}, row.flop ? percent(ofRoofAt(row, level)) : NONE),
                     el("td", {}, percent(row.ofCeiling[level]))));
  return el("table", {class: "levels"}, el("thead", {}, head), el("tbody", {}, ...lines));
}

function changesTable(row: Row, before: string, after: string): HTMLElement|null {
  const was = row.was;
  if (!was) return null;
  const line = (what: string, a: number|null, b: number|null, show: (v: number|null) => string) =>
      el("tr", {}, el("th", {scope: "row"}, what), el("td", {}, show(a)), el("td", {}, show(b)),
         el("td", {}, a && b !== null ? change(b / a) : NONE));
  const levels = Object.keys(row.bytes).filter((l) => row.bytes[l] !== null || was.bytes[l] !== null);
  return el(
      "table", {class: "levels"},
      el("thead", {}, el("tr", {}, ...["", before, after, "change"].map((t) => el("th", {scope: "col"}, t)))),
      el("tbody", {}, line("time", was.time, row.time, (v) => quantity(v, "s")),
         line("FLOP", was.flop, row.flop, (v) => quantity(v, "FLOP")),
         ...levels.map((l) => line(l, was.bytes[l] ?? null, row.bytes[l] ?? null, (v) => quantity(v, "B"))),
         ...levels.map(
             (l) => line(`FLOP/B ${l}`, was.intensity[l] ?? null, row.intensity[l] ?? null, (v) => intensity(v)))));
}

export function details(
    row: Row, data: PageData, wholeTime: number, full: boolean, sides: [string, string]): HTMLElement {
  const work =
      Object.entries(row.work)
          .filter(([, w]) => w)
          .map(([pipe, w]) => `${data.pipes[pipe].title} ${quantity(w, data.pipes[pipe].integer ? "OP" : "FLOP")}`)
          .join(", ");
  const facts: [string, string][] = [
    ["Phase", row.phase],
    [
      "Time",
      `${quantity(row.time, "s")}${
          wholeTime > 0 && row.time !== null ? `, ${percent(row.time / wholeTime)} of all` : ""}`
    ],
    ["Launches", count(row.launches)],
    ["Work", row.flop === 0 ? `no FLOP${work ? `; ${work}` : ""}` : work || "unknown"],
    ["Performance", quantity(row.rate, "FLOP/s")],
    [
      "Bound",
      row.bound ?
          `${boundTitle(row.bound, data)}${row.ofRoof !== null ? `, at ${percent(row.ofRoof)} of that roof` : ""}` :
                                                                 "not judged"
    ],
    ["Headroom", row.headroom !== null ? quantity(row.headroom, "s") : ""],
    ["Clock", row.clock !== null ? quantity(row.clock, "Hz", 4) : ""],
    ["Origin", row.origin],
    ["Explained", row.explained],
  ];
  const list = el("dl", {});
  for (const [what, text] of facts)
    if (text) list.append(el("dt", {}, what), el("dd", {}, what === "Phase" ? nameOf(text) : text));
  const node =
      el("div", {class: "details"},
         el("p", {class: full ? "name full" : "name", dir: "auto"}, nameOf(full ? row.shown : row.short)), list,
         Object.values(row.bytes).some((b) => b !== null) && levelTable(row), full && changesTable(row, ...sides));
  if (row.reason)
    node.append(
        el("p", {class: row.incomplete || row.above ? "reason" : "note"},
           (row.above ? "Above a roof. " : "") + (full ? row.reason : row.reason.slice(0, 300))));
  return node;
}

export class Tooltip {
  readonly node = el("div", {class: "tooltip", role: "tooltip", hidden: true});
  show(content: HTMLElement, x: number, y: number) {
    this.node.replaceChildren(content);
    this.node.hidden = false;
    const {offsetWidth: w, offsetHeight: h} = this.node;
    const left = x + 18 + w > innerWidth - 8 ? Math.max(8, x - 18 - w) : x + 18;
    this.node.style.left = `${left}px`;
    this.node.style.top = `${Math.max(8, Math.min(y + 12, innerHeight - h - 8))}px`;
  }
  hide() { this.node.hidden = true; }
}

export function spoken(row: Row, data: PageData): string {
  const ai =
      Object.entries(row.intensity).filter(([, v]) => v !== null).map(([l, v]) => `${l} ${intensity(v)}`).join(", ");
  return `${row.short.slice(0, 120)}: ${quantity(row.time, "s")}, ${plural(row.launches, "launch")}, intensity ${
             ai || "unknown"}, ` +
      `bound by ${boundTitle(row.bound, data)}${row.ofRoof !== null ? `, ${percent(row.ofRoof)} of roof` : ""}`;
}
