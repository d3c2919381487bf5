// A matrix [N, d] as pixels: one row per id, one column per dimension, colour by sign and size.

/** Blue for negative, paper for zero, orange for positive; |value| = limit is full colour. */
export function colour(value: number, limit: number): [number, number, number] {
  const strength = Math.min(1, Math.abs(value) / limit) ** 0.75;
  const paper = [244, 241, 234] as const;
  const ink = value < 0 ? ([24, 92, 190] as const) : ([222, 92, 38] as const);
  const mix = (from: number, to: number) => Math.round(from + (to - from) * strength);
  return [mix(paper[0], ink[0]), mix(paper[1], ink[1]), mix(paper[2], ink[2])];
}

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
