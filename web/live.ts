// A view as another design would have it: the rows, strip, roofs and answer that the model inside the page gives, in
// the form that the page's data has, so that everything that shows a view shows this one too.
import {finishRow, type Chart, type Num, type PageData, type Roof, type Row, type View} from "./data";
import {percent, quantity} from "./format";
import {isStart, type Design, type LayerResult, type Model, type RoofValues} from "./model";

export interface Live {
  view: View;
  rows: Row[];
  time: number;       // of the layers that have one
  startTime: number;  // of the page's own result
  results: LayerResult[];
}

// Under this share of every roof a kernel waits for something else; data/advice has the same number.
const NEAR_ROOF = 0.4;

function rowOf(old: Row, r: LayerResult, data: PageData, roofs: RoofValues): Row {
  const integer = data.pipes[r.pipe].integer, none = r.refusal !== "";
  const amount = (v: number): Num => (none ? null : v);
  const row: Row = {
    ...old,
    time: amount(r.time),
    flop: amount(integer ? 0 : r.work),
    bound: r.bound && r.shortest < NEAR_ROOF * r.time ? "latency" : r.bound,
    ofRoof: none || !(r.time > 0) || !r.bound ? null : r.shortest / r.time,
    ofCompute: none || integer || !(roofs.pipes[r.pipe] > 0) ? null : r.work / r.time / roofs.pipes[r.pipe],
    above: false,
    headroom: none || !r.bound ? null : r.time - r.shortest,
    reason: none ? r.refusal : old.reason,
    incomplete: none || old.incomplete,
    bytes: {...old.bytes, L1: amount(r.l1), L2: amount(r.l2), DRAM: amount(r.dram)},
    work: none ? {} : {...Object.fromEntries(Object.keys(old.work).map((p) => [p, 0])), [r.pipe]: r.work},
    ofCeiling: {},
    was: null,
  };
  for (const [level, bytes] of Object.entries(row.bytes))
    if (bytes !== null && roofs.levels[level] > 0) row.ofCeiling[level] = bytes / r.time / roofs.levels[level];
  finishRow(row, data.pipes);
  return row;
}

function movedRoofs(chart: Chart, both: {theoretical: RoofValues; measured: RoofValues}, named: boolean): Roof[] {
  const out: Roof[] = [];
  for (const roof of chart.roofs) {
    const set = roof.measured ? both.measured : both.theoretical;
    const value = (roof.kind === "slope" ? set.levels : set.pipes)[roof.what];
    if (!(value > 0)) continue;
    const unit = roof.kind === "slope" ? "B/s" : "FLOP/s";
    // "DRAM 828 GB/s, measured": the figure is replaced, the words stay; those on clocks and origins are of the start.
    const words = roof.label.replace(/[\d.]+ [kMGTP]?(B|FLOP|OP)\/s/, quantity(value, unit));
    out.push({...roof, value, label: named ? words : words.replace(/ \(.*\)$/, "")});
  }
  return out;
}

// Axes that hold what moved; they never shrink, so that a slider does not shake the picture.
function widened(c: Chart, roofs: Roof[], rows: Row[]): {x: [number, number]; y: [number, number]} {
  let [x0, x1] = c.x, [y0, y1] = c.y;
  for (const roof of roofs)
    if (roof.kind === "flat") y1 = Math.max(y1, Math.log10(roof.value) + 0.15);
  for (const row of rows)
    for (const p of row.points) {
      x0 = Math.min(x0, p.x - 0.1), x1 = Math.max(x1, p.x + 0.1);
      y0 = Math.min(y0, p.y - 0.1), y1 = Math.max(y1, p.y + 0.1);
    }
  return {x: [x0, x1], y: [y0, y1]};
}

// Most of the time first: "DRAM 54 %, compute 31 %".
function waits(results: LayerResult[], time: number): string {
  const sums = new Map<string, number>();
  for (const r of results)
    if (!r.refusal) sums.set(r.waitsFor, (sums.get(r.waitsFor) ?? 0) + r.time);
  return [...sums].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([w, t]) => `${w} ${percent(t / time, 0)}`).join(", ");
}

export function answerOf(live: Live): string {
  const refused = live.results.filter((r) => r.refusal);
  const judged = live.results.filter((r) => !r.refusal);
  const shortest = judged.reduce((sum, r) => sum + r.shortest, 0);
  if (refused.length)
    return `${refused.length} of ${live.results.length} layers cannot be computed: ${refused[0].refusal}.`;
  const ratio = live.startTime / live.time;
  return `${quantity(live.time, "s")}, ${ratio.toFixed(ratio < 10 ? 2 : 1)}× as fast as the start (${
      quantity(
          live.startTime,
          "s")}); ${quantity(shortest, "s")} at the roofs. Waits for ${waits(live.results, live.time)}.`;
}

export function liveView(model: Model, view: View, rows: Row[], data: PageData, design: Design): Live {
  const results = model.evaluate(design);
  const sets = (view.charts ?? []).map((_, i) => model.roofs(design, i));
  const judged = (i: number) => (view.roofs === "measured" ? sets[i].measured : sets[i].theoretical);
  // Rows that were measured or simulated stay where they are.
  const made = [...rows];
  view.model!.layers.forEach(({row}, i) => (made[row] = rowOf(rows[row], results[i], data, judged(rows[row].machine))));
  const time = results.reduce((sum, r) => sum + (r.refusal ? 0 : r.time), 0);
  const startTime = view.model!.layers.reduce((sum, {row}) => sum + (rows[row].time ?? 0), 0);
  const chosen = data.catalogue?.find((m) => m.id === design.gpu);
  const live: Live = {view, rows: made, time, startTime, results};
  live.view = {
    ...view,
    whole_time: time,
    total: undefined,  // sums and findings are of the page's own result
    zero_flop: undefined,
    charts: (view.charts ?? []).map((c, i) => {
      const roofs = movedRoofs(c, sets[i], isStart(design));
      const subtitle = chosen ? `${c.subtitle} → ${chosen.name}` : c.subtitle;
      return {...c, roofs, subtitle, ...widened(c, roofs, made)};
    }),
    layers: view.layers.map(
        ([name, detail, , , row], i) =>
            [name, detail, results[i].refusal ? null : results[i].time, results[i].refusal ? "" : results[i].waitsFor,
             row]),
  };
  live.view.answer = answerOf(live);
  return live;
}
