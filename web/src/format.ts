// Numbers, names and errors for people.
const integers = new Intl.NumberFormat('en');

export const integer = (value: number) => integers.format(value);

export function bytes(value: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB'];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    ++unit;
  }
  return unit === 0 ? `${integer(value)} bytes` : `${value.toFixed(value < 10 ? 2 : 1)} ${units[unit]}`;
}

export const sentence = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** What a model from a URL is called: the last part of the path. */
export const titleOf = (url: string) => url.split('/').pop() || url;
