/** Reads what the core answers where that is more than a number: bindings/answer.h says in which form. */

/** The value that `bytes` hold, as JSON.parse would give it. */
export function readAnswer(bytes: Uint8Array): unknown {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // which keeps it: pieces of a vocabulary begin with one
  let at = 0;
  const next = (): string => String.fromCharCode(view.getUint8(at++));
  const read = (kind: string): unknown => {
    if (kind === 'n') return view.getFloat64((at += 8) - 8, true);
    if (kind === 't') {
      const length = view.getUint32(at, true);
      return decoder.decode(bytes.subarray((at += 4), (at += length)));
    }
    if (kind === '[') {
      const list = [];
      for (let item = next(); item !== ']'; item = next()) list.push(read(item));
      return list;
    }
    if (kind === '{') {
      const object: Record<string, unknown> = {}; // its names are the core's, and no file's
      for (let name = next(); name !== '}'; name = next()) object[read(name) as string] = read(next());
      return object;
    }
    return kind === '0' ? null : kind === 'y';
  };
  return read(next());
}
