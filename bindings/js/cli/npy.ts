/**
 * NumPy's array files, as far as the command line needs them: writes float32, reads float32 and float64 in C order.
 *
 *   "\x93NUMPY"  major, minor  u16 (version 1) or u32 header length  a Python dict, padded so that data is 64-aligned
 */
import { readFile, writeFile } from 'node:fs/promises';
import { EmbeddingError } from '../errors.js';
import type { Tensor } from '../types.js';

const kMagic = '\x93NUMPY';
const kAlignment = 64;

export async function writeNpy(path: string, { data, dims }: Tensor): Promise<void> {
  const shape = dims.length === 1 ? `${dims[0]},` : dims.join(', ');
  const dict = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape}), }`;
  const before = kMagic.length + 4;
  const padding = kAlignment - 1 - ((before + dict.length) % kAlignment);
  const header = Buffer.from(`${kMagic}\x01\x00\x00\x00${dict}${' '.repeat(padding)}\n`, 'latin1');
  header.writeUInt16LE(header.length - before, before - 2);
  const values = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  await writeFile(path, Buffer.concat([header, values]));
}

/** @throws {EmbeddingError} `malformed` or `unsupported` for anything but an array of floats in C order */
export async function readNpy(path: string): Promise<Tensor> {
  const file = await readFile(path);
  const { descr, fortran, dims, start } = readHeader(path, file);
  const count = dims.reduce((product, size) => product * size, 1);
  const width = { '<f4': 4, '<f8': 8 }[descr];
  if (width === undefined || fortran) {
    throw new EmbeddingError(
      'unsupported',
      `${path} holds ${fortran ? 'a Fortran-order array' : `elements of type ${descr}`}: save it as float32 in C order.`,
    );
  }
  if (file.length !== start + count * width) {
    throw new EmbeddingError(
      'malformed',
      `${path} has ${file.length - start} bytes of data where its shape (${dims.join(', ')}) takes ${count * width}.`,
    );
  }
  const read = (i: number) =>
    width === 4 ? file.readFloatLE(start + i * 4) : file.readDoubleLE(start + i * 8);
  return { data: Float32Array.from({ length: count }, (_, i) => read(i)), dims };
}

function readHeader(path: string, file: Buffer) {
  const isNpy = file.length >= 12 && file.toString('latin1', 0, kMagic.length) === kMagic;
  const [before, length] = !isNpy
    ? [0, 0]
    : file[6] === 1
      ? [10, file.readUInt16LE(8)]
      : [12, file.readUInt32LE(8)];
  const dict = file.toString('latin1', before, before + length);
  const descr = /'descr'\s*:\s*'([^']*)'/.exec(dict)?.[1];
  const order = /'fortran_order'\s*:\s*(True|False)/.exec(dict)?.[1];
  const shape = /'shape'\s*:\s*\(([\d\s,]*)\)/.exec(dict)?.[1];
  if (descr === undefined || order === undefined || shape === undefined) {
    throw new EmbeddingError('malformed', `${path} is no npy file of one array.`);
  }
  const dims = shape
    .split(',')
    .map((size) => size.trim())
    .filter(Boolean)
    .map(Number);
  return { descr, fortran: order === 'True' && dims.length > 1, dims, start: before + length };
}
