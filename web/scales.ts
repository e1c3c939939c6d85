// Axes of the small charts: where a value lies, which ticks, how a number of that axis is spelled.
import {ticks as linearTicks} from "d3-array";
import {logTicks} from "./axes";
import type {Axis} from "./data";
import {plain, quantity} from "./format";

export interface Scale {
  at(v: number): number;
  ticks: {at: number; text: string}[]
}

// Of a small chart, in its own units: those of the screen where that is narrower than a card, or its text would shrink.
export const CHART_WIDTH = Math.max(300, Math.min(560, innerWidth - 66));

export const usable = (v: number|null, axis: Axis): v is number => v !== null && isFinite(v) && (!axis.log || v > 0);
export const show = (v: number, axis: Axis) =>
    (axis.unit || axis.binary ? quantity(v, axis.unit, 3, axis.binary) : plain(v));

function binaryTicks(low: number, high: number, at: (v: number) => number, axis: Axis, most: number) {
  const first = Math.ceil(low / Math.log10(2)), last = Math.floor(high / Math.log10(2));
  const step = Math.max(1, Math.ceil((last - first) / most)), out = [];
  for (let p = Math.ceil(first / step) * step; p <= last; p += step)
    out.push({at: at(2 ** p), text: show(2 ** p, axis)});
  return out;
}

// `from` and `to` are pixels, `room` those that a label needs.
export function scale(values: number[], axis: Axis, from: number, to: number, room: number): Scale {
  const f = axis.log ? Math.log10 : (v: number) => v;
  let low = Math.min(...values.map(f)), high = Math.max(...values.map(f));
  if (!values.length) (low = 0), (high = 1);
  // A front from cost 1 to 2 wants all the room; bars bring their zero with them.
  if (!axis.log && low > 0 && low < 0.2 * high) low = 0;
  let pad = high > low ? 0.05 * (high - low) : 0.5;
  // Designs that differ by a thousandth are equal to the eye, and to a tick of three digits.
  if (!axis.log && high > low) pad = Math.max(pad, 0.5 * (0.1 * Math.abs(high) - (high - low)));
  (low = low === 0 && !axis.log ? 0 : low - pad), (high += pad);
  const length = Math.abs(to - from), at = (v: number) => from + ((f(v) - low) / (high - low)) * (to - from);
  if (axis.log && axis.binary) return {at, ticks: binaryTicks(low, high, at, axis, length / room)};
  if (axis.log)
    return {
      at,
      ticks:
          logTicks(low, high, from, to, room).filter((t) => t.label).map((t) => ({at: t.at, text: show(t.value, axis)}))
    };
  return {
    at,
    ticks: linearTicks(low, high, Math.max(2, length / room)).map((v: number) => ({at: at(v), text: show(v, axis)}))
  };
}
