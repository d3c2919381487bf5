// Colour by sign and size: blue for negative, the page's own ground for zero, orange for positive.
import { signal } from '@preact/signals';

type Rgb = readonly [number, number, number];

const scheme = matchMedia('(prefers-color-scheme: dark)');

export const dark = signal(scheme.matches);
scheme.addEventListener('change', () => (dark.value = scheme.matches));

const palettes: Record<'light' | 'dark', Record<'zero' | 'negative' | 'positive', Rgb>> = {
  light: { zero: [244, 241, 234], negative: [24, 92, 190], positive: [222, 92, 38] },
  dark: { zero: [30, 37, 52], negative: [82, 150, 255], positive: [255, 132, 72] },
};

/** |value| = limit is full colour. */
export function colour(value: number, limit: number): Rgb {
  const palette = palettes[dark.value ? 'dark' : 'light'];
  const strength = Math.min(1, Math.abs(value) / limit) ** 0.75;
  const ink = value < 0 ? palette.negative : palette.positive;
  const mix = (i: 0 | 1 | 2) => Math.round(palette.zero[i] + (ink[i] - palette.zero[i]) * strength);
  return [mix(0), mix(1), mix(2)];
}

export const css = ([red, green, blue]: Rgb) => `rgb(${red} ${green} ${blue})`;

/** Ink that can be read on a colour: by its relative luminance, roughly. */
export const inkOn = ([red, green, blue]: Rgb) =>
  0.2126 * red ** 2.2 + 0.7152 * green ** 2.2 + 0.0722 * blue ** 2.2 > 0.2 * 255 ** 2.2
    ? '#1d2433'
    : '#ffffff';
