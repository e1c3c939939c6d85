// What every small chart drawn as SVG elements shares: a card around it, buttons that save it, and marks that pointer
// and arrow keys go through.
import {field} from "./columns";
import type {Palette} from "./data";
import {announce, download, el, svg} from "./dom";
import {fileName} from "./exports";
import {card} from "./summary";
import {FONT} from "./surface";

export interface Spot {
  x: number;
  y: number;
  line: number;
  content(): HTMLElement;
  spoken: string
}
export type Hover = (content: HTMLElement|null, x: number, y: number) => void;
export type Cells = (string|number|null)[][];

const HEAD = 46;

const csvText = (rows: Cells) =>
    rows.map((row) => row.map((v) => (v === null ? "" : field(String(v)))).join(",")).join("\n") + "\n";

export interface Titles {
  title: string;
  subtitle: string;  // where its numbers come from
}

// The drawing alone, with the heading that on the page stands above it.
function standalone(root: SVGElement, {title, subtitle}: Titles, palette: Palette) {
  const [, , width, height] = root.getAttribute("viewBox")!.split(" ").map(Number);
  const copy = root.cloneNode(true) as SVGElement;
  copy.querySelectorAll(".cursor").forEach((c) => c.remove());
  for (const name of ["tabindex", "role", "aria-label", "class"]) copy.removeAttribute(name);
  for (const [k, v] of Object.entries({
         xmlns: "http://www.w3.org/2000/svg",
         width,
         height: height + HEAD,
         "font-family": FONT,
         viewBox: `0 ${- HEAD} ${width} ${height + HEAD}`
       }))
    copy.setAttribute(k, String(v));
  copy.prepend(
      svg("rect", {x: 0, y: -HEAD, width, height: height + HEAD, fill: palette.background}),
      svg("text", {x: 12, y: 20 - HEAD, "font-size": 15, "font-weight": 600, fill: palette.ink}, title),
      svg("text", {x: 12, y: 38 - HEAD, "font-size": 11, fill: palette.muted}, subtitle));
  return {text: new XMLSerializer().serializeToString(copy), width, height: height + HEAD};
}

function saveSvg(root: SVGElement, titles: Titles, palette: Palette) {
  download(fileName(titles.title, "svg"), new Blob([standalone(root, titles, palette).text], {type: "image/svg+xml"}));
}

function savePng(root: SVGElement, titles: Titles, palette: Palette) {
  const {text, width, height} = standalone(root, titles, palette), image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    (canvas.width = 2 * width), (canvas.height = 2 * height);
    canvas.getContext("2d")!.drawImage(image, 0, 0, 2 * width, 2 * height);
    canvas.toBlob((blob) => blob && download(fileName(titles.title, "png"), blob), "image/png");
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

export function saveButtons(
    id: string, titles: Titles, cells: () => Cells, root?: SVGElement, palette?: Palette): HTMLElement {
  const {title} = titles;
  const button = (kind: string, click: () => void) =>
      el("button", {
        type: "button",
        class: "small-save",
        id: `${id}-${kind}`,
        "aria-label": `Save ${title} as ${kind.toUpperCase()}`,
        click
      },
         kind.toUpperCase());
  const node = el("div", {class: "card-saves"});
  if (root && palette)
    node.append(
        button("svg", () => saveSvg(root, titles, palette)), button("png", () => savePng(root, titles, palette)));
  node.append(button("csv", () => download(fileName(title, "csv"), new Blob([csvText(cells())], {type: "text/csv"}))));
  return node;
}

// Pointer: the nearest spot. Keys: left and right along a line, up and down to the nearest of the next line.
export function explorable(root: SVGElement, spots: Spot[], palette: Palette, hover: Hover) {
  const cursor = svg(
      "circle", {r: 7, fill: "none", stroke: palette.ink, "stroke-width": 2, class: "cursor", visibility: "hidden"});
  root.append(cursor);
  let at = -1;
  const scale = () => root.getBoundingClientRect().width / Number(root.getAttribute("viewBox")!.split(" ")[2]);
  const show = (i: number, speak: boolean) => {
    at = i;
    const spot = spots[i];
    cursor.setAttribute("visibility", spot ? "visible" : "hidden");
    if (!spot) return hover(null, 0, 0);
    cursor.setAttribute("cx", String(spot.x));
    cursor.setAttribute("cy", String(spot.y));
    const box = root.getBoundingClientRect();
    hover(spot.content(), box.left + spot.x * scale(), box.top + spot.y * scale());
    if (speak) announce(spot.spoken);
  };
  const nearest = (x: number, y: number, among: Spot[]) => {
    let best = -1, least = Infinity;
    for (const spot of among) {
      const d = Math.hypot(spot.x - x, spot.y - y);
      if (d < least) (least = d), (best = spots.indexOf(spot));
    }
    return {best, least};
  };
  root.addEventListener("mousemove", (e) => {
    const box = root.getBoundingClientRect();
    const {best, least} = nearest((e.clientX - box.left) / scale(), (e.clientY - box.top) / scale(), spots);
    show(least <= 26 ? best : -1, false);
  });
  root.addEventListener("mouseleave", () => show(-1, false));
  root.addEventListener("blur", () => show(-1, false));
  root.addEventListener("keydown", (e) => {
    const lines = [...new Set(spots.map((s) => s.line))], here = spots[at];
    const within = here ? spots.filter((s) => s.line === here.line) : [];
    const along = (by: number) =>
        spots.indexOf(within[Math.max(0, Math.min(within.length - 1, within.indexOf(here) + by))]);
    const across = (by: number) => {
      const line = lines[(lines.indexOf(here.line) + by + lines.length) % lines.length];
      return nearest(here.x, here.y, spots.filter((s) => s.line === line)).best;
    };
    const moves: Record<string, () => number> = {
      ArrowRight: () => along(1),
      ArrowLeft: () => along(-1),
      ArrowDown: () => across(1),
      ArrowUp: () => across(-1),
      Home: () => spots.indexOf(within[0]),
      End: () => spots.indexOf(within[within.length - 1]),
      Escape: () => -1,
    };
    if (!moves[e.key] || !spots.length) return;
    e.preventDefault();
    show(e.key === "Escape" ? -1 : here ? moves[e.key]() : 0, true);
  });
}

export function drawnCard(
    id: string, {title, subtitle, note}: Titles&{note: string}, saves: HTMLElement,
    ...parts: (Node|false)[]): HTMLElement {
  const node = card(
      id, title, subtitle !== "" && el("p", {class: "subtitle"}, subtitle), ...(parts as Node[]),
      note !== "" && el("p", {class: "note"}, note));
  node.prepend(saves);
  return node;
}
