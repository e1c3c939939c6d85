// Boxes by where they lie, so that asking whether a place is free does not look at all of them.
export interface PlacedBox {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

const CELL = 24;
const cell = (v: number) => Math.floor(v / CELL);
const key = (x: number, y: number) => y * 65536 + x;

export class Grid {
  private cells = new Map<number, PlacedBox[]>();

  constructor(boxes: PlacedBox[] = []) { boxes.forEach((b) => this.add(b)); }

  add(b: PlacedBox) {
    for (let y = cell(b.y0); y <= cell(b.y1); y++)
      for (let x = cell(b.x0); x <= cell(b.x1); x++) {
        const list = this.cells.get(key(x, y));
        if (list)
          list.push(b);
        else
          this.cells.set(key(x, y), [b]);
      }
  }

  hit(a: PlacedBox): boolean {
    for (let y = cell(a.y0); y <= cell(a.y1); y++)
      for (let x = cell(a.x0); x <= cell(a.x1); x++) {
        const list = this.cells.get(key(x, y));
        if (list)
          for (const b of list)
            if (a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1) return true;
      }
    return false;
  }
}
