/** Sources that need no network: buffers, blobs, dropped folders, a caller's own, and files inside zip files. */
import { describe, expect, test } from 'vitest';
import { hubUrl } from '../../bindings/js/sources/hub.js';
import { InflatedSource } from '../../bindings/js/sources/inflate.js';
import { openSource } from '../../bindings/js/sources/open.js';
import { parseRetryAfter } from '../../bindings/js/sources/retry.js';
import type { ByteSource, Source, SourceLike } from '../../bindings/js/sources/source.js';
import { patternBytes } from './faults/content.js';

const bytes = patternBytes(0, 3_000_000) as Uint8Array<ArrayBuffer>;

async function streamed(source: Source, start: number, end: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of source.stream(start, end)) parts.push(chunk.slice());
  return new Uint8Array(await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer());
}

const own: ByteSource = {
  byteLength: bytes.length,
  name: 'own.bin',
  slice: (start, end) => Promise.resolve(bytes.buffer.slice(start, end)),
  sibling: (name) => (name === 'there' ? { byteLength: 3, slice: () => bytes.slice(0, 3) } : undefined),
};

const all: [string, SourceLike][] = [
  ['ArrayBuffer', bytes.buffer],
  ['Uint8Array', bytes],
  ['Blob', new Blob([bytes])],
  ['File', new File([bytes], 'model.gguf')],
  ['one File in a list', [new File([bytes], 'model.xyz')]],
  ['ByteSource', own],
  ['blob: URL', URL.createObjectURL(new Blob([bytes]))],
];

describe.each(all)('%s', (_, like) => {
  test('size, read and stream', async () => {
    const source = await openSource(like);
    expect(await source.size()).toBe(bytes.length);
    expect(await source.read(5, 10)).toEqual(bytes.slice(5, 10));
    expect(await source.read(7, 7)).toEqual(new Uint8Array(0));
    const middle = await streamed(source, 1_000_000, 2_500_000);
    expect(middle.every((byte, i) => byte === bytes[1_000_000 + i])).toBe(true);
    expect(middle.length).toBe(1_500_000);
  });

  test('ranges outside the file', async () => {
    const source = await openSource(like);
    const { length } = bytes;
    await expect(source.read(length - 1, length + 1)).rejects.toMatchObject({ code: 'truncated' });
    await expect(source.read(-1, 1)).rejects.toBeInstanceOf(RangeError);
    await expect(source.read(2, 1)).rejects.toBeInstanceOf(RangeError);
    await expect(source.read(0.5, 1)).rejects.toBeInstanceOf(RangeError);
  });

  test('missing sibling, and abort', async () => {
    const source = await openSource(like);
    await expect(source.sibling('config.json').size()).rejects.toMatchObject({ code: 'not-found' });
    const reason = new Error('enough');
    await expect(source.read(0, 5, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('a folder', () => {
  const file = (path: string, content: string) => {
    const made = new File([content], path.split('/').at(-1)!);
    Object.defineProperty(made, 'webkitRelativePath', { value: path });
    return made;
  };
  const files = [
    file('my/config.json', '{}'),
    file('my/model-00002-of-00002.safetensors', 'two'),
    file('my/model.safetensors.index.json', 'index'),
    file('my/onnx/model.onnx', 'graph'),
    file('my/onnx/model.onnx_data', 'data'),
  ];
  const text = async (source: Source) => new TextDecoder().decode(await source.read(0, await source.size()));

  test('is opened by the file that leads to the others', async () => {
    const source = await openSource(files);
    expect(source.name).toBe('model.safetensors.index.json');
    expect(await text(source.sibling('model-00002-of-00002.safetensors'))).toBe('two');
    expect(await text(source.sibling('config.json').sibling('onnx/model.onnx'))).toBe('graph');
    await expect(source.sibling('../other').size()).rejects.toMatchObject({ code: 'not-found' });
  });

  test('may be opened by another file', async () => {
    const source = await openSource(files, { root: 'onnx/model.onnx' });
    expect(await text(source.sibling('model.onnx_data'))).toBe('data');
    await expect(openSource(files, { root: 'none' })).rejects.toMatchObject({ code: 'not-found' });
  });

  test('without a model', async () => {
    const rest = [file('a/readme.md', ''), file('a/notes.txt', '')];
    await expect(openSource(rest)).rejects.toMatchObject({ code: 'not-found' });
  });
});

describe('a ByteSource', () => {
  test('with siblings', async () => {
    const source = await openSource(own);
    expect(source.name).toBe('own.bin');
    expect(await source.sibling('there').size()).toBe(3);
  });

  test('that gives too little', async () => {
    const source = await openSource({ byteLength: 100, slice: () => new Uint8Array(3) });
    await expect(source.read(0, 10)).rejects.toMatchObject({
      code: 'truncated',
      message: 'model gave 3 bytes for slice(0, 10): it must give 10.',
    });
  });

  test.each([NaN, -1, 1.5, Infinity])('of %d bytes', async (byteLength) => {
    const source = await openSource({ byteLength, slice: () => new Uint8Array(0) });
    await expect(source.size()).rejects.toBeInstanceOf(TypeError);
  });
});

describe('a deflated entry', () => {
  async function deflated(data: Uint8Array<ArrayBuffer>, before: number): Promise<Uint8Array> {
    const stream = new Blob([data]).stream().pipeThrough(new CompressionStream('deflate-raw'));
    const body = await new Response(stream).arrayBuffer();
    return new Uint8Array(await new Blob([new Uint8Array(before), body]).arrayBuffer());
  }

  test('reads like the file that it inflates to', async () => {
    const archive = await deflated(bytes, 77);
    const entry = { start: 77, bytes: archive.length - 77, inflatedBytes: bytes.length };
    const source = new InflatedSource(await openSource(archive), entry, 'weights.npy');
    expect(await source.size()).toBe(bytes.length);
    expect(await source.read(0, 128)).toEqual(bytes.slice(0, 128));
    expect((await streamed(source, 2_900_000, 3_000_000)).at(-1)).toBe(bytes.at(-1));
  });

  test('that is damaged, or shorter than promised', async () => {
    const archive = await deflated(bytes, 0);
    const entry = { start: 0, bytes: archive.length, inflatedBytes: bytes.length + 1 };
    const longer = new InflatedSource(await openSource(archive), entry, 'weights.npy');
    await expect(longer.read(0, bytes.length + 1)).rejects.toMatchObject({ code: 'truncated' });
    archive.fill(0xff, 100, 200);
    const damaged = new InflatedSource(await openSource(archive), entry, 'weights.npy');
    await expect(damaged.read(0, bytes.length)).rejects.toMatchObject({ code: 'malformed' });
  });

  test('whose file is cut off says so', async () => {
    const archive = await deflated(bytes, 0);
    const entry = { start: 0, bytes: archive.length, inflatedBytes: bytes.length };
    const source = new InflatedSource(await openSource(archive.subarray(0, 1000)), entry, 'weights.npy');
    await expect(source.read(0, 10)).rejects.toMatchObject({ code: 'truncated' });
  });
});

describe('addresses', () => {
  test('of the hub', () => {
    expect(hubUrl('hf://owner/name/model.gguf')).toBe(
      'https://huggingface.co/owner/name/resolve/main/model.gguf',
    );
    expect(hubUrl('hf://o/n@refs%2Fpr%2F1/sub folder/a#b.gguf')).toBe(
      'https://huggingface.co/o/n/resolve/refs%2Fpr%2F1/sub%20folder/a%23b.gguf',
    );
    for (const wrong of ['hf://owner/name', 'hf://owner', 'hf://owner/name/']) {
      expect(() => hubUrl(wrong)).toThrow(/names no file/);
    }
  });

  test.each(['ftp://example.invalid/x', 'constructor://x'])('of unknown kind: %s', async (address) => {
    await expect(openSource(address)).rejects.toMatchObject({ code: 'unsupported' });
  });

  test.each([undefined, null, 3, {}, { byteLength: 3 }])('%s is no source', async (value) => {
    await expect(openSource(value as unknown as SourceLike)).rejects.toBeInstanceOf(TypeError);
  });
});

test('Retry-After', () => {
  expect(parseRetryAfter('3')).toBe(3000);
  expect(parseRetryAfter('Thu, 01 Jan 1970 00:00:10 GMT', 4000)).toBe(6000);
  expect(parseRetryAfter('Thu, 01 Jan 1970 00:00:10 GMT', 40_000)).toBe(0);
  for (const none of [null, '', 'soon']) expect(parseRetryAfter(none)).toBeUndefined();
});
