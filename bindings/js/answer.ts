/** Reads what the core answers where that is more than a number: bindings/answer.h says in which form. */

/** The value that `bytes` hold, as JSON.parse would give it. */
export function readAnswer(bytes: Uint8Array): unknown {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoder = new TextDecoder();
  let at = 0;
  const next = (): string => String.fromCharCode(view.getUint8(at++));
  const read = (kind: string): unknown => {
    if (kind === 'n') return view.getFloat64((at += 8) - 8, true);
    if (kind === 't') {
      const length = view.getUint32(at, true);
      return decoder.decode(bytes.subarray((at += 4), (at += length)));
    }
    if (kind === '[') return readUntil(']');
    if (kind === '{') {
      const fields = readUntil('}');
      return Object.fromEntries(fields.flatMap((_, i) => (i % 2 ? [] : [[fields[i], fields[i + 1]]])));
    }
    return kind === '0' ? null : kind === 'y';
  };
  const readUntil = (end: string): unknown[] => {
    const values = [];
    for (let kind = next(); kind !== end; kind = next()) values.push(read(kind));
    return values;
  };
  return read(next());
}
