// The first tab of a page with several results: a card for each view that says what it is and comes to, and leads
// there.
import type {BoundColors} from "./bounds";
import {fitted} from "./canvas";
import {nounOf, type PageData, type Palette, type Row, type View} from "./data";
import {boundTitle} from "./details";
import {el, nameOf} from "./dom";
import {percent, plural, quantity} from "./format";
import {drawRoofline} from "./roofline";
import {CanvasSurface} from "./surface";

function boundsBar(rows: Row[], data: PageData, colors: BoundColors, palette: Palette, dark: boolean): HTMLElement[] {
  const sums = new Map<string, number>();
  for (const r of rows) sums.set(r.bound, (sums.get(r.bound) ?? 0) + (r.time ?? 0));
  const whole = [...sums.values()].reduce((a, v) => a + v, 0), list = [...sums].sort((a, b) => b[1] - a[1]);
  if (!(whole > 0)) return [];
  return [
    el("div", {class: "bar", "aria-hidden": "true"},
       ...list.map(
           ([bound, time]) =>
               el("div", {style: `flex:${time / whole} 0 0;background:${colors.color(bound, palette, dark)}`}))),
    el("p", {class: "note"},
       `Time by roof: ${
           list.slice(0, 3).map(([bound, time]) => `${boundTitle(bound, data)} ${percent(time / whole)}`).join(", ")}`)
  ];
}

function facts(view: View, rows: Row[]): string[] {
  const out: string[] = [];
  if (view.compared)
    out.push(...view.compared.summary.slice(0, 2));
  else if (rows.length) {
    const noun = nounOf(view, rows);
    out.push(`${plural(rows.length, noun)}${view.total?.time_text ? `, ${view.total.time_text}` : ""}${
        view.total?.flop_text ? `, ${view.total.flop_text}` : ""}`);
  }
  const roofs = view.charts?.[0]?.roofs.filter((r) => !r.other).map((r) => r.label) ?? [];
  if (roofs.length && !rows.length) out.push(roofs.join(" · "));
  // Sweeps differ behind the colon only.
  const more = [...view.curves, ...view.bars, ...view.tables].map((c) => c.title.split(":")[0]);
  if (more.length) out.push(`With: ${[...new Set(more)].join("; ")}`);
  return out;
}

function totalsOf(view: View): HTMLElement|false {
  if (!view.compared?.total.length) return false;
  return el(
      "table", {class: "small"},
      el("tbody", {},
         ...view.compared.total.map(
             ([what, a, b, change]) => el(
                 "tr", {}, el("th", {scope: "row"}, what), el("td", {}, a), el("td", {}, b), el("td", {}, change)))));
}

// The Roofline of a view, small: the same drawing, without names.
function mini(view: View, rows: Row[], palette: Palette): HTMLCanvasElement|null {
  const chart = view.charts?.[0];
  if (!chart) return null;
  const canvas = el("canvas", {class: "mini", "aria-hidden": "true"});
  requestAnimationFrame(() => {
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (width < 100) return;
    const context = fitted(canvas, width, height);
    const here = rows.filter((r) => r.machine === chart.machine);
    drawRoofline(new CanvasSurface(context), {
      chart,
      rows: here,
      hiddenLevels: new Set<string>(),
      roofs: here.length ? "theoretical" : "both",
      before: [],
      sized: false,
      longest: here.reduce((most, r) => Math.max(most, r.time ?? 0), 0),
      selected: new Set<number>(),
      colors: palette,
      labels: 0,
      width,
      height,
      plot: {x0: 76, y0: 6, x1: width - 8, y1: height - 22},
      box: {x0: chart.x[0], x1: chart.x[1], y0: chart.y[0], y1: chart.y[1]},
      bare: true,
    });
  });
  return canvas;
}

export function overview(
    data: PageData, rows: Row[][], colors: BoundColors, palette: Palette, dark: boolean,
    open: (view: number) => void): HTMLElement {
  const cards = data.views.map((view, i) => {
    const origins = [...new Set(rows[i].flatMap((r) => [r.was?.origin ?? "", r.origin]))].filter((o) => o).join(", ");
    const picture = mini(view, rows[i], palette);
    picture?.addEventListener("click", () => open(i));
    const rate = view.compared || !rows[i].length ? "" : rateOf(rows[i]);
    return el(
        "section", {class: "card", "aria-labelledby": `overview-${i}`},
        el("h2", {},
           el("button", {type: "button", class: "plain", id: `overview-${i}`, click: () => open(i)},
              nameOf(view.title))),
        el("p", {class: "note"}, view.charts?.[0]?.subtitle ?? ""), picture,
        ...facts(view, rows[i]).map((text) => el("p", {}, nameOf(text))), rate !== "" && el("p", {}, rate),
        totalsOf(view), ...boundsBar(rows[i], data, colors, palette, dark),
        origins !== "" && el("p", {class: "note"}, `Origin: ${origins}`),
        el("p", {class: "note"}, el("code", {}, view.command)));
  });
  return el("div", {class: "cards"}, ...cards);
}

function rateOf(rows: Row[]): string {
  const time = rows.reduce((s, r) => s + (r.time ?? 0), 0), flop = rows.reduce((s, r) => s + (r.flop ?? 0), 0);
  return time > 0 && flop > 0 ? `${quantity(flop / time, "FLOP/s")} over all` : "";
}
