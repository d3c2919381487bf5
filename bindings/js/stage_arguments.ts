/** Checks of what surrounds ids and vectors: one value per id, choices, counts. */

type Values = ArrayLike<number> | readonly ArrayLike<number>[];

type NumberArray = Uint8ArrayConstructor | Uint32ArrayConstructor | Float32ArrayConstructor;

/** A flat list or rows of a batch as one typed array. @throws {TypeError} for anything that holds other than numbers */
export function checkPerId<T extends NumberArray>(
  name: string,
  values: Values | undefined,
  kind: T,
): InstanceType<T> | undefined {
  if (values === undefined || values instanceof kind) return values as InstanceType<T> | undefined;
  if (!Array.isArray(values) && !ArrayBuffer.isView(values)) {
    throw new TypeError(`${name} must be an array of numbers, or of rows of numbers for a batch`);
  }
  const nested = Array.from(values as ArrayLike<unknown>);
  const flat = nested.flatMap((value) =>
    typeof value === 'number' ? [value] : Array.from(value as ArrayLike<number>),
  );
  const whole = kind !== Float32Array;
  flat.forEach((value, i) => {
    if (typeof value !== 'number' || Number.isNaN(value))
      throw new TypeError(`${name}: value ${i} is no number`);
    if (whole && (!Number.isInteger(value) || value < 0 || value >= 2 ** 32)) {
      throw new RangeError(`${name}: value ${i} is ${value}; it must be a whole number of 0 or more`);
    }
  });
  return (kind as unknown as { from(list: number[]): InstanceType<T> }).from(flat);
}

/** Index of `value` among `choices`. @throws {TypeError} that lists them */
export function checkOneOf(name: string, value: string, choices: readonly string[]): number {
  const index = choices.indexOf(value);
  if (index >= 0) return index;
  throw new TypeError(`${name} is ${JSON.stringify(value)}; it must be one of ${choices.join(', ')}`);
}

/** @throws {RangeError} unless `value` is a whole number of 0 or more */
export function checkWhole(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 0 && value < 2 ** 32) return value;
  throw new RangeError(`${name} is ${value}; it must be a whole number of 0 or more`);
}

/** An id, or −1 for none: null asks for none, undefined for the fallback. */
export function checkSpecialId(name: string, value: number | null | undefined, fallback: number): number {
  if (value === undefined) return fallback;
  return value === null ? -1 : checkWhole(name, value);
}
