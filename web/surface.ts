// Where a chart is drawn: on a canvas for the screen and PNG, or as SVG text. One drawing, so what is saved is what is seen.

export interface Stroke { color: string; width: number; dash?: number[]; alpha?: number }
export interface TextStyle {
  color: string; size: number; weight?: string; anchor?: "start" | "middle" | "end"; angle?: number; halo?: string;
}
export interface Surface {
  rect(x: number, y: number, w: number, h: number, color: string): void;
  line(x0: number, y0: number, x1: number, y1: number, stroke: Stroke): void;
  path(points: [number, number][], closed: boolean, stroke: Stroke | null, fill: string | null, alpha?: number): void;
  circle(x: number, y: number, r: number, fill: string | null, stroke: Stroke | null, alpha?: number): void;
  text(x: number, y: number, text: string, style: TextStyle): void;
  // A small picture that is drawn often: `paint` draws it around 0, 0; equal keys mean equal pictures.
  stamp(key: string, x: number, y: number, r: number, paint: (on: Surface, x: number, y: number) => void): void;
  clip(x: number, y: number, w: number, h: number): void;
  unclip(): void;
  width(text: string, size: number, weight?: string): number;
}

export const FONT = "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";

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
  path(points: [number, number][], closed: boolean, s: Stroke | null, fill: string | null, alpha = 1) {
    this.c.beginPath();
    points.forEach(([x, y], i) => (i ? this.c.lineTo(x, y) : this.c.moveTo(x, y)));
    if (closed) this.c.closePath();
    this.fill(fill, alpha);
    if (s) this.stroke(s);
  }
  circle(x: number, y: number, r: number, fill: string | null, s: Stroke | null, alpha = 1) {
    this.c.beginPath();
    this.c.arc(x, y, r, 0, 2 * Math.PI);
    this.fill(fill, alpha);
    if (s) this.stroke(s);
  }
  private fill(color: string | null, alpha: number) {
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
  // Thirty thousand paths take a quarter of a second, copies of a picture a fifth of that.
  private ratio = 0;
  private stamps = new Map<string, HTMLCanvasElement>();
  stamp(key: string, x: number, y: number, r: number, paint: (on: Surface, x: number, y: number) => void) {
    const ratio = (this.ratio ||= this.c.getTransform().a), half = Math.ceil(r + 2);
    let picture = this.stamps.get(key);
    if (!picture) {
      picture = document.createElement("canvas");
      picture.width = picture.height = Math.ceil(2 * half * ratio);
      const context = picture.getContext("2d")!;
      context.scale(ratio, ratio);
      paint(new CanvasSurface(context), half, half);
      this.stamps.set(key, picture);
    }
    this.c.drawImage(picture, x - half, y - half, picture.width / ratio, picture.height / ratio);
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

const escaped = (text: string) =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;")
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
const n = (v: number) => String(Math.round(v * 100) / 100);

export class SvgSurface implements Surface {
  private out: string[] = [];
  private clips = 0;
  private measure = new CanvasSurface(document.createElement("canvas").getContext("2d")!);
  constructor(private w: number, private h: number, private title: string) {}
  private strokeText(s: Stroke | null): string {
    if (!s) return "";
    const dash = s.dash?.length ? ` stroke-dasharray="${s.dash.join(" ")}"` : "";
    const alpha = s.alpha !== undefined && s.alpha < 1 ? ` stroke-opacity="${n(s.alpha)}"` : "";
    return ` stroke="${s.color}" stroke-width="${n(s.width)}"${dash}${alpha}`;
  }
  private fillText(fill: string | null, alpha: number): string {
    return ` fill="${fill ?? "none"}"${fill && alpha < 1 ? ` fill-opacity="${n(alpha)}"` : ""}`;
  }
  rect(x: number, y: number, w: number, h: number, color: string) {
    this.out.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" fill="${color}"/>`);
  }
  line(x0: number, y0: number, x1: number, y1: number, s: Stroke) {
    this.out.push(`<line x1="${n(x0)}" y1="${n(y0)}" x2="${n(x1)}" y2="${n(y1)}"${this.strokeText(s)}/>`);
  }
  path(points: [number, number][], closed: boolean, s: Stroke | null, fill: string | null, alpha = 1) {
    const d = points.map(([x, y], i) => `${i ? "L" : "M"}${n(x)} ${n(y)}`).join("") + (closed ? "Z" : "");
    this.out.push(`<path d="${d}"${this.fillText(fill, alpha)}${this.strokeText(s)}/>`);
  }
  circle(x: number, y: number, r: number, fill: string | null, s: Stroke | null, alpha = 1) {
    this.out.push(`<circle cx="${n(x)}" cy="${n(y)}" r="${n(r)}"${this.fillText(fill, alpha)}${this.strokeText(s)}/>`);
  }
  text(x: number, y: number, text: string, t: TextStyle) {
    const turn = t.angle ? ` transform="rotate(${n(t.angle)} ${n(x)} ${n(y)})"` : "";
    const halo = t.halo ? ` stroke="${t.halo}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"` : "";
    this.out.push(`<text x="${n(x)}" y="${n(y)}" font-size="${t.size}" font-weight="${t.weight ?? "400"}" ` +
      `text-anchor="${t.anchor ?? "start"}" fill="${t.color}"${halo}${turn}>${escaped(text)}</text>`);
  }
  stamp(_: string, x: number, y: number, __: number, paint: (on: Surface, x: number, y: number) => void) { paint(this, x, y); }
  clip(x: number, y: number, w: number, h: number) {
    const id = `clip${++this.clips}`;
    this.out.push(`<clipPath id="${id}"><rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}"/></clipPath>`,
      `<g clip-path="url(#${id})">`);
  }
  unclip() { this.out.push("</g>"); }
  width(text: string, size: number, weight = "400") { return this.measure.width(text, size, weight); }
  take(): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.w}" height="${this.h}" viewBox="0 0 ${this.w} ${this.h}" ` +
      `role="img" font-family="${escaped(FONT)}"><title>${escaped(this.title)}</title>\n${this.out.join("\n")}\n</svg>\n`;
  }
}
