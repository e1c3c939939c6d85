// A network as a strip: a box for each layer, as wide as its time, coloured by what holds it back.
import type {BoundColors} from "./bounds";
import type {Layer, Palette} from "./data";
import {el, nameOf, replace, say} from "./dom";
import {percent, quantity} from "./format";
import {card} from "./summary";

export interface StripEvents {
  hover(content: HTMLElement|null, x: number, y: number): void;
  pick(row: number, add: boolean): void;
}

function about(layer: Layer, whole: number): HTMLElement {
  const [name, detail, time, bottleneck] = layer;
  return el(
      "div", {class: "details"}, el("p", {class: "name", dir: "auto"}, nameOf(name)),
      detail && el("p", {}, nameOf(detail)),
      el("dl", {}, el("dt", {}, "Time"),
         el("dd", {}, `${quantity(time, "s")}${whole > 0 && time ? `, ${percent(time / whole)} of all` : ""}`),
         el("dt", {}, "Bound"), el("dd", {}, bottleneck || "not judged")));
}

// What the boxes of a strip stand for now: a slider changes it without making them again.
interface Shown {
  layers: Layer[];
  whole: number;
  boxes: HTMLElement[];
  picture: HTMLCanvasElement;
}
const shownIn = new WeakMap<HTMLElement, Shown>();
const sum = (layers: Layer[]) => layers.reduce((total, l) => total + (l[2] ?? 0), 0);

const GAP = 1, LEAST = 2;  // pixels between boxes, and of the narrowest; style.css has the same

function settle(boxes: HTMLElement[], {layers, whole}: Shown, colors: BoundColors, palette: Palette, dark: boolean) {
  boxes.forEach((box, i) => {
    const [name, , time, bottleneck] = layers[i];
    box.setAttribute("aria-label", `${name}: ${quantity(time, "s")}, bound by ${bottleneck || "nothing known"}`);
    box.style.flexGrow = String(whole > 0 ? ((time ?? 0) / whole) * 1000 : 1);
    box.style.background = colors.color(bottleneck, palette, dark);
  });
}

// The boxes as one picture above them: while a slider moves, laying out hundreds of boxes would take half of a frame.
function sketch({layers, whole, boxes, picture}: Shown, colors: BoundColors, palette: Palette, dark: boolean) {
  const strip = boxes[0].parentElement!, width = strip.clientWidth, height = strip.clientHeight;
  if (picture.width !== width || picture.height !== height) (picture.width = width), (picture.height = height);
  picture.hidden = false;
  const room = width - GAP * (layers.length - 1),
        share = (l: Layer) => (whole > 0 ? (l[2] ?? 0) / whole : 1 / layers.length);
  const narrow = layers.filter((l) => share(l) * room < LEAST);
  const rest = (room - LEAST * narrow.length) / (1 - narrow.reduce((sum, l) => sum + share(l), 0) || 1);
  const g = picture.getContext("2d")!;
  g.fillStyle = palette.background;
  g.fillRect(0, 0, width, height);
  let x = 0;
  for (const layer of layers) {
    const wide = share(layer) * room < LEAST ? LEAST : share(layer) * rest;
    g.fillStyle = colors.color(layer[3], palette, dark);
    g.fillRect(x, 0, wide, height);
    x += wide + GAP;
  }
}

function legendOf({layers, whole}: Shown, colors: BoundColors, palette: Palette, dark: boolean): HTMLElement[] {
  const sums = new Map<string, number>();
  for (const [, , time, bottleneck] of layers) sums.set(bottleneck, (sums.get(bottleneck) ?? 0) + (time ?? 0));
  return [...sums]
      .sort((a, b) => b[1] - a[1])
      .map(
          ([bound, time]) => el(
              "li", {},
              el("span",
                 {class: "swatch", style: `background:${colors.color(bound, palette, dark)}`, "aria-hidden": "true"}),
              `${bound || "not judged"} ${quantity(time, "s")}${whole > 0 ? ` (${percent(time / whole)})` : ""}`));
}
// The same entries keep their elements.
function updateLegend(list: Element, shown: Shown, colors: BoundColors, palette: Palette, dark: boolean) {
  const items = legendOf(shown, colors, palette, dark);
  if (items.length !== list.children.length) return replace(list as HTMLElement, ...items);
  items.forEach((item, i) => {
    if (!item.isEqualNode(list.children[i])) list.children[i].replaceWith(item);
  });
}
const titleOf = ({layers, whole}: Shown) =>
    `Layers: ${layers.length}, ${quantity(whole, "s")}, by what the model waits for`;

// The same strip with other times; false if it is not the strip of these layers. `resting`: no more is about to come.
export function updateStrip(
    node: Element|null, layers: Layer[], colors: BoundColors, palette: Palette, dark: boolean,
    resting: boolean): boolean {
  const shown = node instanceof HTMLElement ? shownIn.get(node) : undefined;
  if (!shown || shown.layers.length !== layers.length) return false;
  shown.layers = layers, shown.whole = sum(layers);
  if (resting) {
    shown.picture.hidden = true;
    settle(shown.boxes, shown, colors, palette, dark);
  } else
    sketch(shown, colors, palette, dark);
  say(node!.querySelector("h2")!, titleOf(shown));
  updateLegend(node!.querySelector(".legend")!, shown, colors, palette, dark);
  return true;
}

export function strip(
    layers: Layer[], colors: BoundColors, palette: Palette, dark: boolean, selected: Set<number>,
    events: StripEvents): HTMLElement {
  const picture = el("canvas", {class: "sketch", "aria-hidden": "true", hidden: true});
  const shown: Shown = {layers, whole: sum(layers), boxes: [], picture};
  // One stop for the keyboard; arrows go on from there.
  const stop = Math.max(0, layers.findIndex((l) => l[4] !== null && selected.has(l[4])));
  const boxes = layers.map(([, , , , row], i) => {
    const show = (e: MouseEvent|FocusEvent) => {
      const r = (e.currentTarget as HTMLElement).getBoundingClientRect();
      events.hover(
          about(shown.layers[i], shown.whole), "clientX" in e ? e.clientX : r.left,
          "clientY" in e ? e.clientY : r.bottom);
    };
    return el("button", {
      type: "button",
      class: row !== null && selected.has(row) ? "layer chosen" : "layer",
      "data-layer": i,
      tabindex: i === stop ? 0 : -1,
      mousemove: show as EventListener,
      focus: show as EventListener,
      mouseleave: () => events.hover(null, 0, 0),
      blur: () => events.hover(null, 0, 0),
      click: ((e: MouseEvent) => row !== null && events.pick(row, e.shiftKey || e.ctrlKey)) as EventListener,
    });
  });
  shown.boxes = boxes;
  settle(boxes, shown, colors, palette, dark);
  const move = (e: KeyboardEvent) => {
    const at = boxes.indexOf(document.activeElement as HTMLButtonElement);
    const to: Record<string, number> = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: boxes.length - 1};
    const box = boxes[to[e.key] ?? -1];
    if (at < 0 || !box) return;
    e.preventDefault(), e.stopPropagation();
    boxes[at].tabIndex = -1, box.tabIndex = 0;
    box.focus();
  };
  const node = card(
      "layers", titleOf(shown),
      el("div", {
        class: "strip",
        role: "group",
        "aria-label": "Layers in order; width is time, colour the bottleneck. Arrow keys go from one to the next.",
        keydown: move as EventListener
      },
         ...boxes, picture),
      el("ul", {class: "legend"}, ...legendOf(shown, colors, palette, dark)));
  shownIn.set(node, shown);
  return node;
}
