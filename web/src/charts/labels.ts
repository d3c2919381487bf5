// Where the names of points go, so that they do not lie on each other: above, below, right or left of the point.

export interface Spot {
  /** Pixels. */
  x: number;
  y: number;
  text: string;
}

export interface Placed {
  dx: number;
  dy: number;
  anchor: 'start' | 'middle' | 'end';
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const kLetter = 7.5;
const kLine = 15;
const kGap = 12;

const kPlaces: Placed[] = [
  { dx: 0, dy: -kGap, anchor: 'middle' },
  { dx: 0, dy: kGap, anchor: 'middle' },
  { dx: kGap, dy: 0, anchor: 'start' },
  { dx: -kGap, dy: 0, anchor: 'end' },
];

/** One place for each spot, in order; the first one where nothing is yet, else the first of all. */
export function placeLabels(spots: readonly Spot[], width: number): Placed[] {
  const taken: Box[] = spots.map(({ x, y }) => ({ left: x - 5, right: x + 5, top: y - 5, bottom: y + 5 }));
  return spots.map((spot) => {
    const inside = kPlaces.filter(
      (place) => boxOf(spot, place).left >= 0 && boxOf(spot, place).right <= width,
    );
    const free = inside.find((place) => !taken.some((box) => overlap(box, boxOf(spot, place))));
    const chosen = free ?? inside[0] ?? kPlaces[0]!;
    taken.push(boxOf(spot, chosen));
    return chosen;
  });
}

function boxOf({ x, y, text }: Spot, { dx, dy, anchor }: Placed): Box {
  const length = text.length * kLetter;
  const left = x + dx - { start: 0, middle: length / 2, end: length }[anchor];
  return { left, right: left + length, top: y + dy - kLine / 2, bottom: y + dy + kLine / 2 };
}

const overlap = (a: Box, b: Box) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
