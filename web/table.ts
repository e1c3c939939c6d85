// The table of kernels: sorted by its heads, linked to the chart, and only as many rows in the document as can be seen.
import type {Row} from "./data";
import {el, nameOf, replace} from "./dom";
import {sorted, type Column} from "./columns";

const HEIGHT = 26;  // of a row; style.css has the same
const BEYOND = 10;  // rows kept ready above and below

export interface TableEvents {
  sort(key: string): void;
  pick(row: Row, add: boolean): void;
  hover(row: Row|null): void;
}

const TAIL = 14;
// A name that is too long loses its middle: its end tells it from others that begin alike.
function cutName(name: string): HTMLElement {
  if (name.length < 2 * TAIL) return nameOf(name);
  const out = nameOf("");
  out.className = "cut";
  out.append(el("span", {class: "head"}, name.slice(0, -TAIL)), el("span", {class: "tail"}, name.slice(-TAIL)));
  return out;
}

export class KernelTable {
  readonly node: HTMLElement;
  private head = el("tr", {role: "row", "aria-rowindex": 1});
  private body = el("tbody", {role: "rowgroup"});
  private table =
      el("table", {role: "grid", class: "kernels", "aria-label": "Kernels"}, el("thead", {role: "rowgroup"}, this.head),
         this.body);
  private scroller = el("div", {class: "scroller"}, this.table);
  private rows: Row[] = [];
  private columns: Column[] = [];
  private selected = new Set<number>();
  private cursor = 0;
  private window = "";

  constructor(private events: TableEvents) {
    this.node = el("div", {class: "table"}, this.scroller);
    this.scroller.addEventListener("scroll", () => this.draw());
    this.body.addEventListener("keydown", (e) => this.key(e));
    this.body.addEventListener("mouseover", (e) => this.events.hover(this.rowOf(e)));
    this.body.addEventListener("mouseleave", () => this.events.hover(null));
    this.body.addEventListener("click", (e) => {
      const row = this.rowOf(e);
      if (row) (this.cursor = this.rows.indexOf(row)), this.events.pick(row, e.shiftKey || e.ctrlKey || e.metaKey);
    });
    new ResizeObserver(() => this.draw()).observe(this.scroller);
  }

  update(rows: Row[], columns: Column[], key: string, ascending: boolean, selected: Set<number>) {
    const by = columns.find((c) => c.key === key) ?? columns[0];
    this.columns = columns;
    this.rows = sorted(rows, by, ascending);
    this.selected = selected;
    this.cursor = Math.min(this.cursor, Math.max(0, this.rows.length - 1));
    this.table.setAttribute("aria-rowcount", String(rows.length + 1));
    this.table.style.width = `${columns.reduce((sum, c) => sum + c.width, 0)}px`;
    replace(this.head, ...columns.map((c) => this.headCell(c, by, ascending)));
    this.window = "";
    this.draw();
  }

  // So that a kernel picked in the chart can be seen here.
  reveal(index: number) {
    const at = this.rows.findIndex((r) => r.index === index);
    if (at < 0) return;
    this.cursor = at;
    const top = at * HEIGHT, room = this.scroller.clientHeight - HEIGHT * 2;
    if (top < this.scroller.scrollTop || top > this.scroller.scrollTop + room)
      this.scroller.scrollTop = Math.max(0, top - room / 2);
    this.window = "";
    this.draw();
  }

  private headCell(c: Column, by: Column, ascending: boolean): HTMLElement {
    const sort = c === by ? (ascending ? "ascending" : "descending") : "none";
    const mark = c === by ? (ascending ? " ▲" : " ▼") : "";
    return el(
        "th", {
          role: "columnheader",
          scope: "col",
          class: c.isText ? "text" : "number",
          "aria-sort": sort,
          style: `width:${c.width}px`,
          title: c.help
        },
        el("button", {type: "button", "data-sort": c.key, click: () => this.events.sort(c.key)}, c.title,
           el("span", {"aria-hidden": "true"}, mark)));
  }

  private draw() {
    const room = Math.ceil(this.scroller.clientHeight / HEIGHT);
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / HEIGHT) - BEYOND);
    const last = Math.min(this.rows.length, first + room + 2 * BEYOND);
    const window = `${first} ${last} ${this.cursor}`;
    if (window === this.window) return;
    this.window = window;
    const focused = this.body.contains(document.activeElement);
    const spacer = (rows: number) => rows > 0 &&
        el("tr", {"aria-hidden": "true", class: "spacer"},
           el("td", {colspan: this.columns.length, style: `height:${rows * HEIGHT}px`}));
    const lines = this.rows.slice(first, last).map((row, i) => this.line(row, first + i));
    if (!this.rows.length)
      lines.push(el(
          "tr", {role: "row"},
          el("td", {role: "gridcell", colspan: this.columns.length, class: "empty"}, "No kernel passes the filters.")));
    replace(this.body, spacer(first), ...lines, spacer(this.rows.length - last));
    if (focused) this.focusCursor();
  }

  private line(row: Row, at: number): HTMLElement {
    const chosen = this.selected.has(row.index);
    const cells = this.columns.map(
        (c, i) =>
            el("td", {
              role: "gridcell",
              class: c.isText ? "text" : "number",
              title: i === 0 ? row.shown.slice(0, 2000) : undefined,
            },
               i === 0 ? cutName(row.short) : c.text(row),
               i === 0 && row.above && el("span", {class: "flag", title: "above a roof"}, " ⚠")));
    return el(
        "tr", {
          role: "row",
          "aria-rowindex": at + 2,
          "aria-selected": chosen ? "true" : "false",
          "data-row": row.index,
          class: chosen ? "chosen" : "",
          tabindex: at === this.cursor ? 0 : -1,
        },
        ...cells);
  }

  private rowOf(e: Event): Row|null {
    const line = (e.target as HTMLElement).closest("tr[data-row]");
    const index = line ? Number(line.getAttribute("data-row")) : -1;
    return this.rows.find((r) => r.index === index) ?? null;
  }

  private focusCursor() {
    const row = this.rows[this.cursor];
    if (row) this.body.querySelector<HTMLElement>(`tr[data-row="${row.index}"]`)?.focus({preventScroll: true});
  }

  private key(e: KeyboardEvent) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / HEIGHT) - 2);
    const moves: Record<string, number> =
        {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.rows.length, End: this.rows.length};
    if (e.key in moves) {
      e.preventDefault();
      this.cursor = Math.max(0, Math.min(this.rows.length - 1, this.cursor + moves[e.key]));
      this.reveal(this.rows[this.cursor].index);
      this.focusCursor();
    } else if (e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      if (this.rows[this.cursor]) this.events.pick(this.rows[this.cursor], e.shiftKey || e.ctrlKey);
    }
  }
}
