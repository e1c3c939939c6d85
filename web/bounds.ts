// A colour for each bottleneck: those of the memory levels are the chart's; pipes and other words get hues of their
// own.
import type {PageData, Palette} from "./data";

// Okabe and Ito's remaining hues, and greys; on both backgrounds at 3:1 or more.
const PIPES = {
  light: ["#5b3fa8", "#8a4fc0", "#3c3c8c", "#6d597a"],
  dark: ["#b39ddb", "#ce93d8", "#9fa8da", "#c5b3cf"]
};
const OTHERS = {
  light: ["#6b6b00", "#8c4b2f", "#37685f", "#7a3350"],
  dark: ["#d4d06a", "#d7a58c", "#8fc7bb", "#dc9fb4"]
};

// For what has no colour of its own: series of a chart, networks.
export const HUES = {
  light: ["#0072b2", "#d55e00", "#008a63", "#b0558a", "#a87400", "#5b3fa8", "#37685f"],
  dark: ["#56b4e9", "#f5833c", "#2cc295", "#e08fbf", "#e6b23c", "#b39ddb", "#8fc7bb"]
};

export class BoundColors {
  private pipes: string[] = [];
  private others: string[] = [];
  constructor(private data: PageData) {}

  // In order of first asking, so that one page always has the same colours.
  color(bound: string, palette: Palette, dark: boolean): string {
    if (palette.level[bound]) return palette.level[bound];
    if (!bound) return palette.faint;
    // The model's word for whichever pipe multiplies.
    if (bound === "compute") return (dark ? PIPES.dark : PIPES.light)[0];
    const isPipe = Object.entries(this.data.pipes).some(([name, p]) => name === bound || p.title === bound);
    const [list, hues] = isPipe ? [this.pipes, PIPES] : [this.others, OTHERS];
    if (!list.includes(bound)) list.push(bound);
    const set = dark ? hues.dark : hues.light;
    return set[list.indexOf(bound) % set.length];
  }
}
