// Where the WebAssembly module may come from, and which one is chosen.
import { EmbeddingError, EmbeddingModel, EmbeddingTable } from 'id2vec';
import type { TableOptions } from 'id2vec';
import { describe, expect, it } from 'vitest';
import { projectFile, projectPath } from './corpus.js';
import { place } from './faults/client.js';
import { isas } from './files/isas.js';

const data = Float32Array.of(1, 2, 3, 4);
const create = (options: Omit<TableOptions, 'dtype' | 'dim'>) =>
  EmbeddingTable.create(data, { dtype: 'F32', dim: 2, ...options });

const isNode = typeof process !== 'undefined' && process.versions?.node !== undefined;
const file = 'dist/id2vec.simd128.wasm';
const response = async (type: string) =>
  new Response(await projectFile(file), { headers: { 'content-type': type } });

describe('the option wasm', () => {
  it.each([
    ['bytes', () => projectFile(file)],
    ['a module', async () => WebAssembly.compile(await projectFile(file))],
    ['a response', () => response('application/wasm')],
    ['a response of another type', () => response('application/octet-stream')],
  ])('takes %s', async (_, wasm) => {
    using table = await create({ wasm: await wasm() });
    expect(table.isa).toBe('simd128');
    expect(Array.from(table.lookup([1]).data)).toEqual([3, 4]);
  });

  it('takes an address', async () => {
    const path = projectPath(file);
    using table = await create({ wasm: path.startsWith('http') ? new URL(path) : new URL(`file://${path}`) });
    expect(table.isa).toBe('simd128');
  });

  const page = (type: string) => new Response('<html>', { headers: { 'content-type': type } });

  it.each([
    ['a web page', () => page('text/html'), /no WebAssembly module.*text\/html.*option "wasm"/],
    [
      'a web page that claims to be one',
      () => page('application/wasm'),
      /no WebAssembly module.*option "wasm"/,
    ],
    ['bytes of something else', () => new Uint8Array(100), /no WebAssembly module/],
    ['a missing file', () => new Response('', { status: 404 }), /answered with status 404: check/],
    [
      'the address of a web page',
      () => place('html', 'pattern-10.bin').url,
      /no WebAssembly module.*text\/html/,
    ],
    ['a wrong address', () => place('404', 'pattern-10.bin').url, /answered with status 404/],
    ['a server that is away', () => place('reset-at-once', 'pattern-10.bin').url, /cannot be fetched: check/],
    ...(isNode
      ? [['a path to nothing', () => new URL('./nothing.wasm', import.meta.url), /cannot be read/] as const]
      : []),
  ] as const)('says what is wrong with %s', async (_, wasm, message) => {
    const failure = create({ wasm: wasm() });
    await expect(failure).rejects.toMatchObject({ name: 'EmbeddingError', code: 'wasm' });
    await expect(failure).rejects.toThrow(message);
  });
});

describe('the option fullWasm', () => {
  const full = 'dist/id2vec.full.simd128.wasm';
  // The start of an npy file, which the smaller module does not read.
  const npy = async () => {
    const dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
    const head = [0x93, ...new TextEncoder().encode('NUMPY'), 1, 0, dict.length + 1, 0];
    const bytes = new Uint8Array(head.length + dict.length + 1 + data.byteLength);
    bytes.set([...head, ...new TextEncoder().encode(`${dict}\n`)]);
    bytes.set(new Uint8Array(data.buffer), bytes.length - data.byteLength);
    return bytes;
  };

  it('is the module of files that the other one does not read', async () => {
    const module = await WebAssembly.compile(await projectFile(full));
    using model = await EmbeddingModel.load(await npy(), { isa: 'simd128', fullWasm: module });
    expect(model.info.container).toBe('npy');
    expect(Array.from((await model.lookup([1])).data)).toEqual([3, 4]);
  });

  it('is the module of quantize, also from a table of the other one', async () => {
    using table = await create({ isa: 'simd128', fullWasm: await projectFile(full) });
    using half = await table.quantize('F16');
    expect(half.isa).toBe('simd128');
    expect(Array.from(half.lookup([0, 1]).data)).toEqual([1, 2, 3, 4]);
    expect(Array.from(table.lookup([0, 1]).data)).toEqual([1, 2, 3, 4]);
  });

  it('is missed with a sentence, and a file that needs none of it loads all the same', async () => {
    const missing = () => new Response('', { status: 404 });
    await expect(EmbeddingModel.load(await npy(), { fullWasm: missing() })).rejects.toMatchObject({
      code: 'wasm',
      message: expect.stringContaining('status 404') as string,
    });
    using table = await create({ fullWasm: missing() });
    await expect(table.quantize('F16')).rejects.toMatchObject({ name: 'EmbeddingError', code: 'wasm' });
    expect(Array.from(table.lookup([1]).data)).toEqual([3, 4]);
  });
});

describe('the option isa', () => {
  it('is the best that the engine runs right, if left out', async () => {
    using table = await create({});
    expect(table.isa).toBe(isas.at(-1));
  });

  it.each(isas)('%s is used where it is asked for', async (isa) => {
    using table = await create({ isa });
    expect(table.isa).toBe(isa);
  });

  it('is refused where there is none of that name', async () => {
    const failure = create({ isa: 'avx512' as 'auto' });
    await expect(failure).rejects.toThrow(/avx512.*scalar/);
    await expect(failure).rejects.toBeInstanceOf(EmbeddingError);
  });

  it('carries simd128 in every build', () => {
    expect(isas).toContain('simd128');
  });
});
