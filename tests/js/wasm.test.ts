// Where the WebAssembly module may come from, and which one is chosen.
import { EmbeddingError, EmbeddingTable } from 'id2vec';
import type { TableOptions } from 'id2vec';
import { describe, expect, it } from 'vitest';
import { projectFile, projectPath } from './corpus.js';
import { isas } from './files/isas.js';

const data = Float32Array.of(1, 2, 3, 4);
const create = (options: Omit<TableOptions, 'dtype' | 'dim'>) =>
  EmbeddingTable.create(data, { dtype: 'F32', dim: 2, ...options });

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

  it('names what is no module', async () => {
    const page = new Response('<html>', { headers: { 'content-type': 'text/html' } });
    await expect(create({ wasm: page })).rejects.toThrow(/no WebAssembly module.*text\/html/);
    await expect(create({ wasm: new Response('', { status: 404 }) })).rejects.toMatchObject({ code: 'wasm' });
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
