// A row of a matrix as pixels: one column per dimension.
import { colour } from './colours';

/** A limit that a few outliers cannot wash out: the 98th percentile of |value|. */
export function colourLimit(data: Float32Array): number {
  const sizes = data.map(Math.abs).sort();
  return sizes[Math.floor(sizes.length * 0.98)] || 1;
}

/** Paints one row of the matrix: d pixels wide, one high; CSS stretches it. */
export function paintRow(canvas: HTMLCanvasElement, row: Float32Array, limit: number): void {
  canvas.width = row.length;
  canvas.height = 1;
  const context = canvas.getContext('2d');
  if (!context) return;
  const image = context.createImageData(row.length, 1);
  row.forEach((value, column) => image.data.set([...colour(value, limit), 255], column * 4));
  context.putImageData(image, 0, 0);
}
