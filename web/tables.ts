// Plain tables that a click on a head sorts: ceilings with their proof, designs, the elasticity of each layer.
import {HUES} from "./bounds";
import type {Palette, PlainTable} from "./data";
import {el, nameOf, replace} from "./dom";
import {type Cells, saveButtons} from "./drawn";
import {card} from "./summary";

const DARKEST = 0.45;  // of the hue in a shaded cell: text keeps its contrast

const channels = (color: string) => [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
function mixed(ground: string, hue: string, part: number): string {
  const a = channels(ground), b = channels(hue);
  return `rgb(${a.map((v, i) => Math.round(v + (b[i] - v) * part)).join(" ")})`;
}

type Line = PlainTable["rows"][0];

function compare(a: Line, b: Line, column: number, isNumber: boolean): number {
  const x = a.values[column], y = b.values[column];
  if (x !== null && y !== null) return x - y;
  if (isNumber) return (x === null ? 1 : 0) - (y === null ? 1 : 0);
  return a.texts[column].localeCompare(b.texts[column], "en", {numeric: true});
}

export function plainTable(table: PlainTable, id: string, palette: Palette, dark: boolean): HTMLElement {
  const hue = (dark ? HUES.dark : HUES.light)[0], head = el("tr", {}), body = el("tbody", {});
  let by = -1, ascending = false;
  const shade = (v: number|null) =>
      v === null ? undefined : `background:${mixed(palette.background, hue, DARKEST * Math.max(0, Math.min(1, v)))}`;
  const ordered = () => {
    if (by < 0) return table.rows;
    const sign = ascending ? 1 : -1, {number} = table.columns[by];
    // Unknowns stay last either way.
    return [...table.rows].sort((a, b) => {
      const unknown = number && (a.values[by] === null || b.values[by] === null);
      return unknown ? compare(a, b, by, true) : sign * compare(a, b, by, number);
    });
  };
  const draw = () => {
    const focused = (document.activeElement as HTMLElement | null)?.id;
    replace(
        head,
        ...table.columns.map(
            (c, i) =>
                el("th", {
                  scope: "col",
                  class: c.number ? "number" : "text",
                  "aria-sort": i === by ? (ascending ? "ascending" : "descending") : "none",
                },
                   el("button", {
                     type: "button",
                     id: `${id}-by-${i}`,
                     click: () => {
                       ascending = i === by ? !ascending : !c.number;
                       by = i;
                       draw();
                     }
                   },
                      c.title, el("span", {"aria-hidden": "true"}, i === by ? (ascending ? " ▲" : " ▼") : "")))));
    replace(
        body,
        ...ordered().map(
            (row) =>
                el("tr", {class: row.state || "ordinary"},
                   ...row.texts.map(
                       (text, i) =>
                           el(i ? "td" : "th", {
                             scope: i ? undefined : "row",
                             class: table.columns[i].number ? "number" : "text",
                             style: table.columns[i].shaded ? shade(row.values[i]) : undefined,
                           },
                              nameOf(text))))));
    if (focused?.startsWith(`${id}-by-`)) document.getElementById(focused)?.focus({preventScroll: true});
  };
  draw();
  const cells = (): Cells =>
      [table.columns.map((c) => c.title),
       ...ordered().map((r) => r.texts.map((t, i) => (table.columns[i].number ? r.values[i] ?? t : t)))];
  const node = card(
      id, table.title,
      el("div", {class: "wide tall", tabindex: 0, role: "region", "aria-label": `${table.title}, table`},
         el("table", {class: "plain-table"}, el("thead", {}, head), body)),
      ...table.notes.map((note) => el("p", {class: "note"}, nameOf(note))));
  node.prepend(saveButtons(id, {title: table.title, subtitle: ""}, cells));
  return node;
}
