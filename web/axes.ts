// Log axes of a plot: which lines and labels, at any zoom. Positions are pixels, values are in units.
import {ticks as linearTicks} from "d3-array";
import {scaleLog} from "d3-scale";

export interface Frame {
  x0: number;
  y0: number;
  x1: number;
  y1: number
}
export interface Tick {
  at: number;
  value: number;
  major: boolean;
  label: boolean
}

const isPower = (v: number) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9;

// Labels go to powers of ten first, then to 2 and 5, then to the rest, as far as there is room.
export function logTicks(low: number, high: number, from: number, to: number, room: number): Tick[] {
  const scale = scaleLog().domain([10 ** low, 10 ** high]).range([from, to]);
  let values: number[] = scale.ticks();
  const decades = high - low;
  const perDecade = Math.abs(to - from) / decades;
  if (perDecade < 40) values = values.filter(isPower);
  if (values.length < 3) values = linearTicks(10 ** low, 10 ** high, 5).filter((v: number) => v > 0);
  const out: Tick[] = values.map((v) => ({at: scale(v), value: v, major: isPower(v) || decades < 0.6, label: false}));
  const rank = (t: Tick) => {
    if (isPower(t.value)) return 0;
    const lead = Math.round(t.value / 10 ** Math.floor(Math.log10(t.value) + 1e-9));
    return lead === 5 || lead === 2 ? 1 : 2;
  };
  const placed: number[] = [];
  for (const wanted of [0, 1, 2])
    for (const tick of out) {
      if (rank(tick) !== wanted || (wanted > 0 && perDecade < 90) || placed.some((p) => Math.abs(p - tick.at) < room))
        continue;
      tick.label = true;
      placed.push(tick.at);
    }
  return out;
}
