// A colour for each bottleneck: those of the memory levels are the chart's; pipes and other words get hues of their
// own.
import type {PageData, Palette} from "./data";

// Okabe and Ito's remaining hues, and greys; on both backgrounds at 3:1 or more. Each word has its own place, so that
// pages that lie beside each other agree; a word that is not listed gets the last.
const PIPES: Record<string, [string, string]> = {
  fp32: ["#5b3fa8", "#b39ddb"],
  fp64: ["#8a4fc0", "#ce93d8"],
  fp16: ["#3c3c8c", "#9fa8da"],
  bf16: ["#6d597a", "#c5b3cf"],
  int32: ["#5f5f73", "#b4b4c8"],
  tensor_fp64: ["#7a2f8f", "#d38be0"],
  tensor_tf32: ["#4a56b8", "#98a4f0"],
  tensor_bf16: ["#7b4a9e", "#c8a2e6"],
  tensor_fp16: ["#473097", "#a48fe8"],
  tensor_fp8: ["#96468c", "#dea0d6"],
  tensor_int8: ["#59508c", "#aea6dc"],
  "": ["#6a4c93", "#bfa8dd"]
};
const OTHERS: Record<string, [string, string]> = {
  compute: ["#5b3fa8", "#b39ddb"],  // the model's word for whichever pipe multiplies
  latency: ["#6b6b00", "#d4d06a"],
  issue: ["#8c4b2f", "#d7a58c"],
  "shared memory": ["#37685f", "#8fc7bb"],
  launch: ["#7a3350", "#dc9fb4"],
  link: ["#4d6a2d", "#a9cf80"],
  "": ["#5c5c5c", "#b8b8b8"]
};

// For what has no colour of its own: series of a chart, networks.
export const HUES = {
  light: ["#0072b2", "#d55e00", "#008a63", "#b0558a", "#a87400", "#5b3fa8", "#37685f"],
  dark: ["#56b4e9", "#f5833c", "#2cc295", "#e08fbf", "#e6b23c", "#b39ddb", "#8fc7bb"]
};

export class BoundColors {
  constructor(private data: PageData) {}

  color(bound: string, palette: Palette, dark: boolean): string {
    if (palette.level[bound]) return palette.level[bound];
    if (!bound) return palette.faint;
    const pipe = Object.entries(this.data.pipes).find(([name, p]) => name === bound || p.title === bound);
    const hues = pipe ? PIPES[pipe[0]] ?? PIPES[""] : OTHERS[bound] ?? OTHERS[""];
    return hues[dark ? 1 : 0];
  }
}
