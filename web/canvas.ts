// Canvases that stay sharp: as many pixels as the screen has, and drawn again when their size or the screen's changes.

// Calls redraw when the node changes its size, and when the ratio of the screen's pixels to the page's changes, as when
// the reader zooms the page or moves the window to another screen. The ratio may change alone, or after the size.
export function whenResized(node: Element, redraw: () => void) {
  new ResizeObserver(redraw).observe(node);
  const watch = () => matchMedia(`(resolution: ${window.devicePixelRatio || 1}dppx)`).addEventListener("change", () => {
    redraw();
    watch();
  }, {once: true});
  watch();
}

// The canvas's context, in which one unit is one pixel of the page.
export function fitted(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1, x = Math.round(width * ratio), y = Math.round(height * ratio);
  if (canvas.width !== x || canvas.height !== y) (canvas.width = x), (canvas.height = y);
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
