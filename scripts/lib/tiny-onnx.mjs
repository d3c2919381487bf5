// ONNX models of a few hundred bytes, one for each way to store a table and to use it: what the fuzzer starts from.

// Protocol buffers: [field number, value] pairs; numbers become varints, strings, bytes and messages are counted.
const varint = (value) => {
  const bytes = [];
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    if (rest < 0x80n) return [...bytes, Number(rest)];
    bytes.push(Number(rest & 0x7fn) | 0x80);
  }
};
const message = (...fields) =>
  fields.flatMap(([number, value]) => {
    if (typeof value === 'number') return [...varint(number * 8), ...varint(value)];
    const bytes = typeof value === 'string' ? [...Buffer.from(value)] : [...value];
    return [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes];
  });

const types = { f32: 1, u8: 2, i8: 3, f16: 10, u4: 21 };
const tensor = (name, type, dims, ...data) =>
  message(...dims.map((size) => [1, size]), [2, types[type]], [8, name], ...data);
const raw = (length) => [9, Array.from({ length }, (_, i) => (i * 37) % 251)];
const external = (offset, length) =>
  [
    ['location', 'root.bin'],
    ['offset', `${offset}`],
    ['length', `${length}`],
  ].map(([key, value]) => [13, message([1, key], [2, value])]);
const attribute = (name, value) => [5, message([1, name], [3, value], [20, 2])];
const node = (op, inputs, output, ...attributes) =>
  message(...inputs.map((input) => [1, input]), [2, output], [4, op], ...attributes);
const value = (name) => message([1, name]);
const model = (nodes, tensors, inputs = ['input_ids', 'h'], outputs = ['logits']) =>
  Buffer.from(
    message(
      [1, 8],
      [
        7,
        message(
          ...nodes.map((each) => [1, each]),
          ...tensors.map((each) => [5, each]),
          ...inputs.map((each) => [11, value(each)]),
          ...outputs.map((each) => [12, value(each)]),
        ),
      ],
      [8, message([1, ''], [2, 17])],
    ),
  );

const quantized = [attribute('bits', 4), attribute('block_size', 16)];
const quantizedTensors = [
  tensor('q', 'u8', [4, 16], raw(64)),
  tensor('s', 'f32', [4, 2], raw(32)),
  tensor('z', 'u8', [4, 1], raw(4)),
];

/** Name → bytes. */
export const tinyOnnx = {
  'gather-matmul.onnx': model(
    [
      node('Gather', ['e', 'input_ids'], 'x'),
      node('MatMul', ['h', 'w'], 'm'),
      node('Add', ['m', 'b'], 'logits'),
    ],
    [
      tensor('e', 'f32', [4, 2], raw(32)),
      tensor('w', 'f32', [2, 4], raw(32)),
      tensor('b', 'f32', [4], raw(16)),
    ],
  ),
  'gemm-cast.onnx': model(
    [
      node('Cast', ['input_ids'], 'i'),
      node('Gather', ['e', 'i'], 'x'),
      node('Gemm', ['h', 'e'], 'logits', attribute('transB', 1)),
    ],
    [tensor('e', 'f16', [4, 2], [5, [1, 2, 3, 4, 5, 6, 7, 8]])],
  ),
  'tied-transpose.onnx': model(
    [
      node('Gather', ['e', 'input_ids'], 'x'),
      node('Transpose', ['e'], 't'),
      node('MatMul', ['h', 't'], 'logits'),
    ],
    [tensor('e', 'f32', [2, 2], [4, [0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 0, 0, 128, 64]])],
  ),
  'external.onnx': model(
    [node('Gather', ['e', 'input_ids'], 'x')],
    [tensor('e', 'f32', [4, 2], ...external(4, 32), [14, 1])],
  ),
  'block-quantized.onnx': model(
    [
      node('GatherBlockQuantized', ['q', 'input_ids', 's', 'z'], 'x', ...quantized),
      node(
        'MatMulNBits',
        ['h', 'q', 's', 'z'],
        'logits',
        ...quantized,
        attribute('N', 4),
        attribute('K', 32),
      ),
    ],
    quantizedTensors,
  ),
  'four-bit-type.onnx': model(
    [node('GatherBlockQuantized', ['q', 'input_ids', 's'], 'x', attribute('block_size', 16))],
    [tensor('q', 'u4', [4, 32], raw(64)), tensor('s', 'f32', [4, 2], raw(32))],
  ),
  // Three zero points in a row of nibbles: the second row starts inside a byte.
  'crossing-zero-points.onnx': model(
    [node('GatherBlockQuantized', ['q', 'input_ids', 's', 'z'], 'x', attribute('block_size', 16))],
    [
      tensor('q', 'u4', [3, 48], raw(72)),
      tensor('s', 'f32', [3, 3], raw(36)),
      tensor('z', 'u4', [3, 3], raw(5)),
    ],
  ),
  'crossing-typed-zero-points.onnx': model(
    [node('GatherBlockQuantized', ['q', 'input_ids', 's', 'z'], 'x', attribute('block_size', 16))],
    [
      tensor('q', 'u4', [3, 16], raw(24)),
      tensor('s', 'f32', [3, 1], raw(12)),
      tensor('z', 'u4', [3, 1], [5, [33, 67]]),
    ],
  ),
  'integer-product.onnx': model(
    [
      node('Gather', ['e', 'input_ids'], 'x'),
      node('MatMulInteger', ['h', 'q', '', 'z'], 'i'),
      node('Cast', ['i'], 'f'),
      node('Mul', ['hs', 's'], 'both'),
      node('Mul', ['f', 'both'], 'logits'),
    ],
    [
      tensor('e', 'f32', [4, 2], raw(32)),
      tensor('q', 'i8', [2, 4], raw(8)),
      tensor('s', 'f32', [4], raw(16)),
      tensor('z', 'i8', [4], raw(4)),
    ],
  ),
  'dynamic-product.onnx': model(
    [
      node('Gather', ['e', 'input_ids'], 'x'),
      node('DynamicQuantizeMatMul', ['h', 'q', 's', 'z', 'b'], 'logits'),
    ],
    [
      tensor('e', 'f32', [4, 2], raw(32)),
      tensor('q', 'u8', [2, 4], raw(8)),
      tensor('s', 'f32', [], raw(4)),
      tensor('z', 'u8', [], raw(1)),
      tensor('b', 'f32', [4], raw(16)),
    ],
  ),
  'dequantize.onnx': model(
    [
      node('Gather', ['q', 'input_ids'], 'g'),
      node('DequantizeLinear', ['g', 's', 'z'], 'x'),
      node('Constant', [], 'w', [5, message([1, 'value'], [5, tensor('', 'f32', [2, 4], raw(32))])]),
      node('MatMul', ['h', 'w'], 'logits'),
    ],
    [tensor('q', 'i8', [4, 2], raw(8)), tensor('s', 'f32', [], raw(4)), tensor('z', 'i8', [], raw(1))],
  ),
  'embed-layer-norm.onnx': model(
    [node('EmbedLayerNormalization', ['input_ids', 'types', 'e', 'p', 't', 'g', 'b'], 'x')],
    ['e', 'p', 't']
      .map((name) => tensor(name, 'f32', [2, 2], raw(16)))
      .concat(['g', 'b'].map((name) => tensor(name, 'f32', [2], raw(8)))),
  ),
  'if.onnx': model(
    [
      node('If', ['c'], 'logits', [
        5,
        message(
          [1, 'then_branch'],
          [
            6,
            message([1, node('Gather', ['e', 'input_ids'], 'x')], [5, tensor('e', 'f32', [2, 2], raw(16))]),
          ],
        ),
      ]),
    ],
    [],
  ),
};
