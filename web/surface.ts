// Where a chart is drawn: on a canvas for the screen and PNG, or as SVG text. One drawing, so what is saved is what is
// seen.

export interface Stroke {
  color: string;
  width: number;
  dash?: number[];
  alpha?: number
}
export interface TextStyle {
  color: string;
  size: number;
  weight?: string;
  anchor?: "start"|"middle"|"end";
  angle?: number;
  halo?: string;
}
// `paint` draws it around a point; equal keys mean equal pictures.
export interface Stamp {
  key: string;
  x: number;
  y: number;
  r: number;
  paint(on: Surface, x: number, y: number): void
}
export interface Surface {
  rect(x: number, y: number, w: number, h: number, color: string): void;
  line(x0: number, y0: number, x1: number, y1: number, stroke: Stroke): void;
  path(points: [number, number][], closed: boolean, stroke: Stroke|null, fill: string|null, alpha?: number): void;
  circle(x: number, y: number, r: number, fill: string|null, stroke: Stroke|null, alpha?: number): void;
  text(x: number, y: number, text: string, style: TextStyle): void;
  // Small pictures that are drawn very often, all at once.
  stamps(list: Stamp[]): void;
  clip(x: number, y: number, w: number, h: number): void;
  unclip(): void;
  width(text: string, size: number, weight?: string): number;
}

export const FONT = "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";

function pictureOf(stamp: Stamp, ratio: number): {size: number; data: Float32Array} {
  const size = Math.ceil(2 * (stamp.r + 1) * ratio), canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const context = canvas.getContext("2d", {willReadFrequently: true})!;
  context.scale(ratio, ratio);
  stamp.paint(new CanvasSurface(context), size / ratio / 2, size / ratio / 2);
  const bytes = context.getImageData(0, 0, size, size).data, data = new Float32Array(bytes.length);
  for (let i = 0; i < bytes.length; i += 4) {
    const alpha = bytes[i + 3] / 255;
    data[i] = bytes[i] * alpha;
    data[i + 1] = bytes[i + 1] * alpha;
    data[i + 2] = bytes[i + 2] * alpha;
    data[i + 3] = alpha;
  }
  return {size, data};
}

export class CanvasSurface implements Surface {
  constructor(private c: CanvasRenderingContext2D) {}
  rect(x: number, y: number, w: number, h: number, color: string) {
    this.c.fillStyle = color;
    this.c.fillRect(x, y, w, h);
  }
  private stroke(s: Stroke) {
    this.c.strokeStyle = s.color;
    this.c.lineWidth = s.width;
    this.c.setLineDash(s.dash ?? []);
    this.c.globalAlpha = s.alpha ?? 1;
    this.c.stroke();
    this.c.globalAlpha = 1;
  }
  line(x0: number, y0: number, x1: number, y1: number, s: Stroke) {
    this.c.beginPath();
    this.c.moveTo(x0, y0);
    this.c.lineTo(x1, y1);
    this.stroke(s);
  }
  path(points: [number, number][], closed: boolean, s: Stroke|null, fill: string|null, alpha = 1) {
    this.c.beginPath();
    points.forEach(([x, y], i) => (i ? this.c.lineTo(x, y) : this.c.moveTo(x, y)));
    if (closed) this.c.closePath();
    this.fill(fill, alpha);
    if (s) this.stroke(s);
  }
  circle(x: number, y: number, r: number, fill: string|null, s: Stroke|null, alpha = 1) {
    this.c.beginPath();
    this.c.arc(x, y, r, 0, 2 * Math.PI);
    this.fill(fill, alpha);
    if (s) this.stroke(s);
  }
  private fill(color: string|null, alpha: number) {
    if (!color) return;
    this.c.globalAlpha = alpha;
    this.c.fillStyle = color;
    this.c.fill();
    this.c.globalAlpha = 1;
  }
  text(x: number, y: number, text: string, t: TextStyle) {
    this.c.save();
    this.c.font = `${t.weight ?? "400"} ${t.size}px ${FONT}`;
    this.c.textAlign = t.anchor === "middle" ? "center" : t.anchor ?? "start";
    this.c.direction = "ltr";
    this.c.translate(x, y);
    if (t.angle) this.c.rotate((t.angle * Math.PI) / 180);
    if (t.halo) {
      this.c.strokeStyle = t.halo;
      this.c.lineWidth = 3;
      this.c.lineJoin = "round";
      this.c.setLineDash([]);
      this.c.strokeText(text, 0, 0);
    }
    this.c.fillStyle = t.color;
    this.c.fillText(text, 0, 0);
    this.c.restore();
  }
  // Thirty thousand paths, or copies of a picture, take a canvas a quarter of a second. Blended by hand into one layer,
  // with each picture drawn and read once, they take a tenth of that. Premultiplied, so that blending is one multiply
  // and add.
  stamps(list: Stamp[]) {
    const {width, height} = this.c.canvas, ratio = this.c.getTransform().a;
    const layer = new Float32Array(width * height * 4), pictures = new Map < string, {
      size: number;
      data: Float32Array
    }
    > ();
    for (const stamp of list) {
      let picture = pictures.get(stamp.key);
      if (!picture) pictures.set(stamp.key, (picture = pictureOf(stamp, ratio)));
      const {size, data} = picture;
      const left = Math.round(stamp.x * ratio - size / 2), top = Math.round(stamp.y * ratio - size / 2);
      if (left < 0 || top < 0 || left + size > width || top + size > height) continue;
      for (let row = 0, from = 0; row < size; row++) {
        let to = ((top + row) * width + left) * 4;
        for (let column = 0; column < size; column++, from += 4, to += 4) {
          const alpha = data[from + 3];
          if (alpha === 0) continue;
          const rest = 1 - alpha;
          layer[to] = layer[to] * rest + data[from];
          layer[to + 1] = layer[to + 1] * rest + data[from + 1];
          layer[to + 2] = layer[to + 2] * rest + data[from + 2];
          layer[to + 3] = layer[to + 3] * rest + alpha;
        }
      }
    }
    this.lay(layer, width, height);
  }
  private lay(layer: Float32Array, width: number, height: number) {
    const image = new ImageData(width, height), out = image.data;
    for (let i = 0; i < layer.length; i += 4) {
      const alpha = layer[i + 3];
      if (alpha === 0) continue;
      out[i] = layer[i] / alpha;
      out[i + 1] = layer[i + 1] / alpha;
      out[i + 2] = layer[i + 2] / alpha;
      out[i + 3] = 255 * alpha;
    }
    const sheet = document.createElement("canvas");
    sheet.width = width;
    sheet.height = height;
    sheet.getContext("2d")!.putImageData(image, 0, 0);
    this.c.save();
    this.c.setTransform(1, 0, 0, 1, 0, 0);
    this.c.drawImage(sheet, 0, 0);
    this.c.restore();
  }
  clip(x: number, y: number, w: number, h: number) {
    this.c.save();
    this.c.beginPath();
    this.c.rect(x, y, w, h);
    this.c.clip();
  }
  unclip() { this.c.restore(); }
  width(text: string, size: number, weight = "400") {
    this.c.font = `${weight} ${size}px ${FONT}`;
    return this.c.measureText(text).width;
  }
}

const escaped = (text: string) => text.replace(/&/g, "&amp;")
                                      .replace(/</g, "&lt;")
                                      .replace(/>/g, "&gt;")
                                      .replace(/"/g, "&quot;")
                                      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
const n = (v: number) => String(Math.round(v * 100) / 100);

export class SvgSurface implements Surface {
  private out: string[] = [];
  private clips = 0;
  private measure = new CanvasSurface(document.createElement("canvas").getContext("2d")!);
  constructor(private w: number, private h: number, private title: string) {}
  private strokeText(s: Stroke|null): string {
    if (!s) return "";
    const dash = s.dash?.length ? ` stroke-dasharray="${s.dash.join(" ")}"` : "";
    const alpha = s.alpha !== undefined && s.alpha < 1 ? ` stroke-opacity="${n(s.alpha)}"` : "";
    return ` stroke="${s.color}" stroke-width="${n(s.width)}"${dash}${alpha}`;
  }
  private fillText(fill: string|null, alpha: number): string {
    return ` fill="${fill ?? "none"}"${fill && alpha < 1 ? ` fill-opacity="${n(alpha)}"` : ""}`;
  }
  rect(x: number, y: number, w: number, h: number, color: string) {
    this.out.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" fill="${color}"/>`);
  }
  line(x0: number, y0: number, x1: number, y1: number, s: Stroke) {
    this.out.push(`<line x1="${n(x0)}" y1="${n(y0)}" x2="${n(x1)}" y2="${n(y1)}"${this.strokeText(s)}/>`);
  }
  path(points: [number, number][], closed: boolean, s: Stroke|null, fill: string|null, alpha = 1) {
    const d = points.map(([x, y], i) => `${i ? "L" : "M"}${n(x)} ${n(y)}`).join("") + (closed ? "Z" : "");
    this.out.push(`<path d="${d}"${this.fillText(fill, alpha)}${this.strokeText(s)}/>`);
  }
  circle(x: number, y: number, r: number, fill: string|null, s: Stroke|null, alpha = 1) {
    this.out.push(`<circle cx="${n(x)}" cy="${n(y)}" r="${n(r)}"${this.fillText(fill, alpha)}${this.strokeText(s)}/>`);
  }
  text(x: number, y: number, text: string, t: TextStyle) {
    const turn = t.angle ? ` transform="rotate(${n(t.angle)} ${n(x)} ${n(y)})"` : "";
    const halo = t.halo ? ` stroke="${t.halo}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"` : "";
    this.out.push(
        `<text x="${n(x)}" y="${n(y)}" font-size="${t.size}" font-weight="${t.weight ?? "400"}" ` +
        `text-anchor="${t.anchor ?? "start"}" fill="${t.color}"${halo}${turn}>${escaped(text)}</text>`);
  }
  stamps(list: Stamp[]) {
    for (const stamp of list) stamp.paint(this, stamp.x, stamp.y);
  }
  clip(x: number, y: number, w: number, h: number) {
    const id = `clip${++this.clips}`;
    this.out.push(
        `<clipPath id="${id}"><rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}"/></clipPath>`,
        `<g clip-path="url(#${id})">`);
  }
  unclip() { this.out.push("</g>"); }
  width(text: string, size: number, weight = "400") { return this.measure.width(text, size, weight); }
  take(): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.w}" height="${this.h}" viewBox="0 0 ${this.w} ${
               this.h}" ` +
        `role="img" font-family="${escaped(FONT)}"><title>${escaped(this.title)}</title>\n${
               this.out.join("\n")}\n</svg>\n`;
  }
}
