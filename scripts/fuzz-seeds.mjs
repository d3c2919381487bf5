// node scripts/fuzz-seeds.mjs TARGET FOLDER
//
// Copies what a fuzz target should start from into FOLDER: the files of tests/fixtures and, where it stands beside
// the checkout, of the corpus of model files, as far as they are of the target's kind and small; and tiny ONNX models.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { tinyOnnx } from './lib/tiny-onnx.mjs';

const LARGEST = 20_000; // bytes; longer inputs only make the fuzzer slow
const LARGEST_TO_CUT = 140_000;

const ascii = (bytes, from, to) => String.fromCharCode(...bytes.subarray(from, to));
const isZip = (bytes) => ascii(bytes, 0, 4) === 'PK\x03\x04';
const isGguf = (bytes) => ascii(bytes, 0, 4) === 'GGUF';
const isNpy = (bytes) => ascii(bytes, 1, 6) === 'NUMPY';
const isPickle = (bytes) =>
  (bytes[0] === 0x80 && bytes[1] <= 5 && bytes[2] !== 0) || ascii(bytes, 0, 4) === 'L119';
const isJson = (bytes) => bytes[0] === 0x7b || bytes[0] === 0x5b;
const isSafetensors = (bytes) => ascii(bytes, 8, 9) === '{';

// Entries of an archive by its local headers: [name, bytes].
function* entries(bytes) {
  for (let at = bytes.indexOf('PK\x03\x04'); at >= 0; at = bytes.indexOf('PK\x03\x04', at + 4)) {
    const nameEnd = at + 30 + bytes.readUInt16LE(at + 26);
    const start = nameEnd + bytes.readUInt16LE(at + 28);
    const data = bytes.subarray(start, start + bytes.readUInt32LE(at + 18));
    const name = ascii(bytes, at + 30, nameEnd);
    yield [name, bytes.readUInt16LE(at + 8) === 8 ? inflateRawSync(data) : data];
  }
}

const jsonOfSafetensors = (bytes) => bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE(0)));
const pickleOfZip = (bytes) => [...entries(bytes)].find(([name]) => name.endsWith('data.pkl'))?.[1];

// A GGUF file of one table, cut down to its first two rows.
function firstRows(bytes) {
  const rows = 2;
  const name = bytes.indexOf('token_embd.weight');
  const dims = name + 17 + 4; // behind the name and the number of dimensions
  const start = Math.ceil((dims + 16 + 12) / 32) * 32;
  const all = name < 0 ? 0 : Number(bytes.readBigUInt64LE(dims + 8));
  if (all <= rows || bytes.indexOf('.weight', dims) >= 0) return undefined;
  const cut = Buffer.from(bytes.subarray(0, start + ((bytes.length - start) / all) * rows));
  cut.writeBigUInt64LE(BigInt(rows), dims + 8);
  return cut;
}

// Target → [is it a seed?, what the seed is made of it].
const same = (bytes) => bytes;
const kinds = {
  gguf_fuzz: [[isGguf, same]],
  safetensors_fuzz: [[isSafetensors, same]],
  json_fuzz: [
    [isJson, same],
    [isSafetensors, jsonOfSafetensors],
  ],
  zip_fuzz: [[isZip, same]],
  npz_fuzz: [[isZip, same]],
  npy_fuzz: [[isNpy, same]],
  pytorch_zip_fuzz: [[isZip, same]],
  pytorch_legacy_fuzz: [[isPickle, same]],
  pickle_fuzz: [
    [isPickle, same],
    [isZip, pickleOfZip],
  ],
  onnx_fuzz: [[(bytes, name) => name.endsWith('.onnx'), same]],
  word_vectors_fuzz: [[(bytes, name) => /\.(vec|txt)$/.test(name) || name.startsWith('word2vec'), same]],
  directory_fuzz: [[() => true, same]],
  load_fuzz: [
    [() => true, same],
    [isGguf, firstRows],
  ],
};

function* filesBelow(folder) {
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
    if (name.endsWith('.f32')) continue; // expected values, no file of a model
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* filesBelow(path);
    else if (statSync(path).size <= LARGEST_TO_CUT) yield [name, readFileSync(path)];
  }
}

const [target, folder] = process.argv.slice(2);
const root = join(import.meta.dirname, '..');
const corpus = process.env.ID2VEC_CORPUS ?? join(root, '..', 'shared', 'corpus');
let count = 0;
mkdirSync(folder, { recursive: true });
// torch.save(…, pickle_protocol=1): numbers and truth values as text.
const protocolOne = Buffer.concat([
  Buffer.from(
    'L119547037146038801333356L\n.M\xe9\x03.}X\x0d\x00\x00\x00little_endianI01\ns.' +
      '}X\x01\x00\x00\x00wctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n' +
      'X\x01\x00\x00\x009X\x03\x00\x00\x00cpuK\x06tQK\x02(K\x02K\x02t(K\x02K\x01tI00\nccollections\nOrderedDict\n)RtRs.' +
      ']X\x01\x00\x00\x009a.\x06\x00\x00\x00\x00\x00\x00\x00',
    'latin1',
  ),
  Buffer.alloc(24, 1),
]);
const files = [
  ['protocol-one.pt', protocolOne],
  ...filesBelow(join(root, 'tests', 'fixtures')),
  ...filesBelow(corpus),
  ...Object.entries(tinyOnnx),
];
for (const [name, file] of files) {
  const bytes = name.endsWith('.hex') ? Buffer.from(file.toString().replace(/\s/g, ''), 'hex') : file;
  for (const [matches, make] of kinds[target] ?? []) {
    const seed = matches(bytes, name) ? make(bytes) : undefined;
    if (seed === undefined || seed.length === 0 || seed.length > LARGEST) continue;
    writeFileSync(join(folder, `${String(count++).padStart(3, '0')}-${name}`), seed);
  }
}
