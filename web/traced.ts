// Kernels of a trace as another machine would have them. Their times were measured: what the model says is by how much
// a time changes. Kernels without shapes, copies and communication stay as they were.
import type {PageData, Row, View} from "./data";
import type {LayerResult, Model, RoofValues} from "./model";

export const isTraced = (view: View) => !!view.model!.traced;

// The roof that is nearest, and whether any is near.
function judge(sum: LayerResult, parts: LayerResult[], roofs: RoofValues, near: number) {
  const shortest = (time: number, bound: string) => {
    if (time > sum.shortest) (sum.shortest = time), (sum.nearest = bound);
  };
  if (roofs.pipes[sum.pipe] > 0) shortest(sum.work / roofs.pipes[sum.pipe], sum.pipe);
  for (const [level, bytes] of Object.entries({L1: sum.l1, L2: sum.l2, DRAM: sum.dram}))
    if (roofs.levels[level] > 0) shortest(bytes / roofs.levels[level], level);
  sum.bound = sum.nearest;
  if (sum.shortest < near * sum.time) sum.bound = parts.every((p) => p.bound === "occupancy") ? "occupancy" : "latency";
}

// One result for each row that has layers, by the row.
export function tracedResults(
    model: Model, view: View, rows: Row[], results: LayerResult[], data: PageData,
    roofs: (row: Row) => RoofValues): Map<number, LayerResult> {
  const parts = new Map<number, number[]>();
  view.model!.layers.forEach(({row}, i) => parts.has(row) ? parts.get(row)!.push(i) : parts.set(row, [i]));
  const out = new Map<number, LayerResult>();
  for (const [row, list] of parts) {
    const of = (i: number) => view.model!.layers[i].times ?? 1;
    const sum = (list: number[], get: (i: number) => number) => list.reduce((all, i) => all + get(i), 0);
    const extra = sum(list, (i) => view.model!.layers[i].extra ?? 0);
    const then = sum(list, (i) => results[i].time * of(i)), start = sum(list, (i) => model.start[i].time * of(i));
    const longest = list.reduce((a, b) => (results[b].time * of(b) > results[a].time * of(a) ? b : a));
    const integer = data.pipes[results[longest].pipe].integer;
    const made: LayerResult = {
      ...results[longest],
      refusal: list.map((i) => results[i].refusal).find((r) => r) ?? "",
      time: start > 0 ? (rows[row].time ?? 0) * then / start : 0,
      work: integer ? 0 : rows[row].flop ?? 0,
      l1: extra + sum(list, (i) => results[i].l1 * of(i)),
      l2: extra + sum(list, (i) => results[i].l2 * of(i)),
      dram: extra + sum(list, (i) => results[i].dram * of(i)),
      shortest: 0,
      nearest: "",
    };
    judge(made, list.map((i) => results[i]), roofs(rows[row]), view.model!.near_roof);
    out.set(row, made);
  }
  return out;
}
