/** Just enough of ONNX's protobuf to hand ONNX Runtime one node with its weights. */

const kFloat = 1;
const kUint8 = 2;
const kInt64 = 7;

function varint(value) {
  const bytes = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    if (rest < 128n) return Uint8Array.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}

function join(parts) {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

const number = (field, value) => join([varint(field << 3), varint(value)]);
const bytes = (field, value) => join([varint((field << 3) | 2), varint(value.length), value]);
const text = (field, value) => bytes(field, new TextEncoder().encode(value));
const message = (field, parts) => bytes(field, join(parts));

const kTypes = new Map([
  [Float32Array, kFloat],
  [Uint8Array, kUint8],
]);

function initializer(name, { dims, data }) {
  return message(5, [
    ...dims.map((dim) => number(1, dim)),
    number(2, kTypes.get(data.constructor)),
    text(8, name),
    bytes(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength)),
  ]);
}

/** A value of the graph whose first dimension is free. */
function value(field, name, type, rank) {
  const dims = Array.from({ length: rank }, (_, i) => message(1, [text(2, `${name}${i}`)]));
  const tensor = message(1, [number(1, type), message(2, dims)]);
  return message(field, [text(1, name), message(2, [tensor])]);
}

const attribute = ([name, i]) => message(5, [text(1, name), number(3, i), number(20, 2)]);

/**
 * A model of one node. `inputs` names its inputs in order: 'x' is the caller's, all others are in `weights`.
 * @returns the bytes of an .onnx file
 */
export function oneNodeModel({ op, domain = '', inputs, weights, attributes = {}, ids = false }) {
  const node = message(1, [
    ...inputs.map((name) => text(1, name)),
    text(2, 'y'),
    text(4, op),
    ...Object.entries(attributes).map(attribute),
    text(7, domain),
  ]);
  const graph = message(7, [
    node,
    text(2, 'bench'),
    ...Object.entries(weights).map(([name, tensor]) => initializer(name, tensor)),
    value(11, 'x', ids ? kInt64 : kFloat, ids ? 1 : 2),
    value(12, 'y', kFloat, 2),
  ]);
  const opset = (name, version) => message(8, [text(1, name), number(2, version)]);
  return join([number(1, 10), opset('', 21), opset('com.microsoft', 1), graph]);
}
