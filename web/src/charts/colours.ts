// Colour by sign and size: blue for negative, the page's own ground for zero, orange for positive.
import { computed, signal } from '@preact/signals';

type Rgb = readonly [number, number, number];

const scheme = matchMedia('(prefers-color-scheme: dark)');

export const dark = signal(scheme.matches);
scheme.addEventListener('change', () => (dark.value = scheme.matches));

/** As the style sheet has them for the scheme of the moment. */
const palette = computed(() => {
  void dark.value;
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => rgb(style.getPropertyValue(name).trim());
  return { zero: of('--zero'), negative: of('--negative'), positive: of('--positive') };
});

/** `#rrggbb` */
function rgb(hex: string): Rgb {
  const channel = (at: number) => parseInt(hex.slice(at, at + 2), 16);
  return [channel(1), channel(3), channel(5)];
}

/** |value| = limit is full colour. */
export function colour(value: number, limit: number): Rgb {
  const { zero, negative, positive } = palette.value;
  const strength = Math.min(1, Math.abs(value) / limit) ** 0.75;
  const ink = value < 0 ? negative : positive;
  const mix = (i: 0 | 1 | 2) => Math.round(zero[i] + (ink[i] - zero[i]) * strength);
  return [mix(0), mix(1), mix(2)];
}

export const css = ([red, green, blue]: Rgb) => `rgb(${red} ${green} ${blue})`;

/** Ink that can be read on a colour: by its relative luminance, roughly. */
export const inkOn = ([red, green, blue]: Rgb) =>
  0.2126 * red ** 2.2 + 0.7152 * green ** 2.2 + 0.0722 * blue ** 2.2 > 0.2 * 255 ** 2.2
    ? '#1d2433'
    : '#ffffff';
