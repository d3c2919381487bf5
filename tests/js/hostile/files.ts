/** Files that mean harm, one for each kind of lie; small enough that nothing in them justifies much memory. */
import { deflateRawSync } from 'node:zlib';
import { ByteWriter } from '../files/bytes.js';
import { gguf } from '../files/gguf.js';
import { safetensors } from '../files/safetensors.js';
import { zip } from '../files/zip.js';

export interface Hostile {
  name: string;
  /** The file that is opened, and those beside it. */
  root: string;
  files: Record<string, Uint8Array>;
  /** Of the sentence that refuses it. */
  says: RegExp;
}

const text = (content: string) => new TextEncoder().encode(content);

function one(name: string, root: string, file: Uint8Array, says: RegExp): Hostile {
  return { name, root, files: { [root]: file }, says };
}

/** A safetensors file with this JSON, and some data. */
function tensors(json: string, data = 64): Uint8Array {
  const header = text(json);
  return new ByteWriter().u64(header.length).bytes(header).zeros(data).finish();
}
const entry = (shape: string, offsets: string, dtype = 'F32') =>
  `{"wte.weight":{"dtype":"${dtype}","shape":${shape},"data_offsets":${offsets}}}`;

function npy(header: string, data = 16): Uint8Array {
  const out = new ByteWriter().u8(0x93).bytes(text('NUMPY')).u8(1).u8(0);
  return out
    .u8(header.length & 255)
    .u8(header.length >> 8)
    .bytes(text(header))
    .zeros(data)
    .finish();
}
const array = (shape: string) => npy(`{'descr': '<f4', 'fortran_order': False, 'shape': ${shape}, }\n`);

const table = { name: 'wte.weight', dtype: 'F32' as const, shape: [2, 2], data: new Uint8Array(16) };
const plain = safetensors([table]);
const packed = safetensors([
  { name: 'wte.scales', dtype: 'BF16', shape: [2, 1], data: new Uint8Array(4) },
  { name: 'wte.biases', dtype: 'BF16', shape: [2, 1], data: new Uint8Array(4) },
  { name: 'wte.weight', dtype: 'U32', shape: [2, 8], data: new Uint8Array(64) },
]);

function withConfig(name: string, config: string, says: RegExp): Hostile {
  return {
    name,
    root: 'model.safetensors',
    files: { 'model.safetensors': packed, 'config.json': text(config) },
    says,
  };
}

function index(name: string, json: string, says: RegExp, beside: Record<string, Uint8Array> = {}): Hostile {
  const root = 'model.safetensors.index.json';
  return { name, root, files: { [root]: text(json), ...beside }, says };
}

const pickled = (program: string) =>
  zip([{ name: 'archive/data.pkl', data: Uint8Array.from(program, (c) => c.charCodeAt(0)) }]);

/** ModelProto { ir_version 8, graph { initializer { dims…, F32, name "e", … } } } */
function initializer(fields: string): Uint8Array {
  const tensor = `${fields}\x10\x01\x42\x01e`;
  const graph = `\x2a${String.fromCharCode(tensor.length)}${tensor}`;
  const model = `\x08\x08\x3a${String.fromCharCode(graph.length)}${graph}`;
  return Uint8Array.from(model, (c) => c.charCodeAt(0));
}
const external = (key: string, value: string) => {
  const pair = `\x0a${String.fromCharCode(key.length)}${key}\x12${String.fromCharCode(value.length)}${value}`;
  return `\x6a${String.fromCharCode(pair.length)}${pair}`;
};

function ggufWith(change: (view: DataView, at: (text: string) => number) => void): Uint8Array {
  const file = gguf([{ name: 'token_embd.weight', dtype: 'F32', shape: [2, 2], data: new Uint8Array(16) }], {
    'general.architecture': 'llama',
  });
  const latin = new TextDecoder('latin1').decode(file);
  change(new DataView(file.buffer), (what) => latin.indexOf(what));
  return file;
}
const tensorName = 'token_embd.weight';
const dimsAt = tensorName.length + 4;

const zeros = deflateRawSync(new Uint8Array(8 << 20));

export const hostileFiles: Hostile[] = [
  one(
    'GGUF, V · d past 64 bits',
    'm.gguf',
    ggufWith((view, at) => {
      view.setBigUint64(at(tensorName) + dimsAt, 1n << 63n, true);
    }),
    /multiply to more than 64 bits/,
  ),
  one(
    'GGUF, weights at byte 2⁶³',
    'm.gguf',
    ggufWith((view, at) => view.setBigUint64(at(tensorName) + dimsAt + 20, 1n << 63n, true)),
    /ends at byte/,
  ),
  one(
    'GGUF, weights at byte 2⁵³',
    'm.gguf',
    ggufWith((view, at) => view.setBigUint64(at(tensorName) + dimsAt + 20, 1n << 53n, true)),
    /ends at byte/,
  ),
  one(
    'GGUF, a value of 2⁶³ bytes',
    'm.gguf',
    ggufWith((view, at) => view.setBigUint64(at('llama') - 8, 1n << 63n, true)),
    /9223372036854775808/,
  ),
  one(
    'safetensors, offsets at 2⁶³',
    'm',
    tensors(entry('[2,2]', '[9223372036854775808,9223372036854775824]')),
    /./,
  ),
  one(
    'safetensors, offsets past 2⁵³',
    'm',
    tensors(entry('[2,2]', '[9007199254740993,9007199254741009]')),
    /./,
  ),
  one('safetensors, offsets of 400 digits', 'm', tensors(entry('[2,2]', `[0,${'9'.repeat(400)}]`)), /./),
  one('safetensors, 2³² × 2³² weights', 'm', tensors(entry('[4294967296,4294967296]', '[0,64]')), /./),
  one('safetensors, a negative dimension', 'm', tensors(entry('[-2,-8]', '[0,64]')), /./),
  one('safetensors, 50,000 open brackets', 'm', tensors(`{"a":${'['.repeat(50_000)}`), /./),
  one('safetensors, 50,000 open braces', 'm', tensors('{"a":'.repeat(50_000)), /./),
  one(
    'safetensors, one name twice',
    'm',
    tensors(entry('[2,2]', '[0,16]').replace(/}$/, `,${entry('[2,2]', '[16,32]').slice(1)}`)),
    /twice/,
  ),
  one(
    'safetensors, tensors that overlap',
    'm',
    tensors(
      entry('[2,2]', '[0,16]').replace(/}$/, ',"b":{"dtype":"F32","shape":[2,2],"data_offsets":[8,24]}}'),
      24,
    ),
    /inside of the tensor before it/,
  ),
  index(
    'an index with a shard above its folder',
    '{"weight_map":{"wte.weight":"../secret"}}',
    /no plain relative file name/,
  ),
  index(
    'an index with an absolute shard',
    '{"weight_map":{"wte.weight":"/etc/passwd"}}',
    /no plain relative file name/,
  ),
  index(
    'an index with a shard elsewhere',
    '{"weight_map":{"wte.weight":"http://host/x"}}',
    /no plain relative file name/,
  ),
  index(
    'an index that is its own shard',
    '{"weight_map":{"wte.weight":"model.safetensors.index.json"}}',
    /is an index itself/,
  ),
  index('an index of what no shard holds', '{"weight_map":{"gone":"a"}}', /in none of the shards/, {
    a: plain,
  }),
  withConfig('MLX, groups of 10³⁰⁰', '{"quantization":{"bits":4,"group_size":1e300}}', /only config.json/),
  withConfig('MLX, 1024 bits', '{"quantization":{"bits":1024,"group_size":64}}', /1024 bits is not read/),
  withConfig('MLX, groups of one', '{"quantization":{"bits":4,"group_size":1}}', /./),
  withConfig(
    'MLX, an unknown mode',
    '{"quantization":{"bits":4,"group_size":64,"mode":"\\u0000\\n"}}',
    /mode '\?\?'/,
  ),
  withConfig('a config that nests 50,000 deep', '{"a":'.repeat(50_000), /only config.json/),
  one('npy, 2⁴⁰ × 2⁴⁰ numbers', 'm.npy', array('(1099511627776, 1099511627776)'), /./),
  one('npy, 2⁶² numbers', 'm.npy', array('(2, 2305843009213693952)'), /./),
  one('npy, a dimension of 400 digits', 'm.npy', array(`(2, ${'9'.repeat(400)})`), /./),
  one(
    'npz, 8 MB that deflate to 8 KB and are said to be 16',
    'm.npz',
    zip([{ name: 'a.npy', data: zeros, deflated: true, inflatedBytes: 16 }]),
    /./,
  ),
  one(
    'npz, 4 GB in 100 bytes',
    'm.npz',
    zip([{ name: 'a.npy', data: new Uint8Array(100), deflated: true, inflatedBytes: 0xfffffff0 }]),
    /./,
  ),
  one(
    'npz, a deflated array that ends early',
    'm.npz',
    zip([
      {
        name: 'a.npy',
        data: deflateRawSync(array('(200, 2)').subarray(0, 90)),
        deflated: true,
        inflatedBytes: array('(200, 2)').length + 1584,
      },
    ]),
    /./,
  ),
  one(
    'npz, damaged deflate data',
    'm.npz',
    zip([{ name: 'a.npy', data: new Uint8Array(200).fill(255), deflated: true, inflatedBytes: 300 }]),
    /damaged deflate data/,
  ),
  one(
    'a zip whose entry passes its end',
    'm.pt',
    zip([{ name: 'archive/data.pkl', data: text('N.'), claimedBytes: 1 << 30 }]),
    /./,
  ),
  one('a zip with a name above its folder', 'm.pt', zip([{ name: '../data.pkl', data: text('N.') }]), /./),
  one(
    'a pickle that runs a command',
    'm.pt',
    pickled('\x80\x02cposix\nsystem\nX\x02\x00\x00\x00id\x85R.'),
    /'posix\.system'/,
  ),
  one(
    'a pickle that runs a command, in protocol 0',
    'm.pt',
    pickled("cos\nsystem\n(S'id'\ntR."),
    /'os\.system'/,
  ),
  one('a pickle of text of 4 GB', 'm.pt', pickled('\x80\x02X\xff\xff\xff\xffabc.'), /4294967295 bytes/),
  one('a pickle of a memo of 2³²', 'm.pt', pickled('\x80\x02Nr\xff\xff\xff\xff.'), /larger than the pickle/),
  one('a pickle that holds itself', 'm.pt', pickled('\x80\x02]q\x01h\x01ah\x01\x85.'), /./),
  one(
    'ONNX, dimensions of 2⁶³',
    'm.onnx',
    initializer(`\x08${'\xff'.repeat(8)}\x7f\x08${'\xff'.repeat(8)}\x7f`),
    /64 bits/,
  ),
  one('ONNX, a negative dimension', 'm.onnx', initializer(`\x08${'\xff'.repeat(9)}\x01`), /64 bits/),
  one(
    'ONNX, a shape of 1 TB without data',
    'm.onnx',
    initializer('\x08\x80\x80\x80\x80\x20'),
    /no data for it/,
  ),
  one(
    'ONNX, data above its folder',
    'm.onnx',
    initializer(`\x08\x02\x70\x01${external('location', '../x')}`),
    /not a file beside the model/,
  ),
  {
    ...one(
      'ONNX, data at byte 2⁶⁴ − 1',
      'm.onnx',
      initializer(
        `\x08\x02\x70\x01${external('location', 'd')}${external('offset', '18446744073709551615')}`,
      ),
      /has only 16 bytes/,
    ),
  },
  one('a page of an error', 'm.gguf', text('<!doctype html><title>Sign in</title>'), /HTML page/),
  one(
    'word vectors in JSON',
    'words.json',
    text('{"the": [1, 2], "a": [3, 4]}'),
    /a word and its numbers in a line, and not as JSON/,
  ),
];
hostileFiles.find(({ name }) => name === 'ONNX, data at byte 2⁶⁴ − 1')!.files['d'] = new Uint8Array(16);
