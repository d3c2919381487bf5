/** ONNX models of one or two operators: protocol buffers, written field by field. */

/** Numbers become varints, texts and bytes are counted. */
type Field = [number: number, value: number | string | Uint8Array];

const types = { F32: 1, U8: 2, I8: 3, F16: 10, U4: 21, I4: 22 } as const;

export interface OnnxTensor {
  name: string;
  dtype: keyof typeof types;
  shape: number[];
  data: Uint8Array;
}

export interface OnnxNode {
  op: string;
  inputs: string[];
  output: string;
  attributes?: Record<string, number>;
}

export interface OnnxValue {
  name: string;
  dtype: 'F32' | 'I64';
  shape: (number | string)[];
}

function varint(value: number): number[] {
  const bytes = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push((value % 0x80) | 0x80);
  return [...bytes, value];
}

function message(...fields: Field[]): Uint8Array<ArrayBuffer> {
  const parts = fields.flatMap(([number, value]) => {
    if (typeof value === 'number') return [Uint8Array.from([...varint(number * 8), ...varint(value)])];
    const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
    return [Uint8Array.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes];
  });
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const each = <T>(number: number, items: readonly T[], make: (item: T) => Field[1]): Field[] =>
  items.map((item) => [number, make(item)]);

const tensorProto = ({ name, dtype, shape, data }: OnnxTensor) =>
  message(...each(1, shape, (size) => size), [2, types[dtype]], [8, name], [9, data]);

const attributeProto = ([name, value]: [string, number]) => message([1, name], [3, value], [20, 2]);

const contrib = new Set(['GatherBlockQuantized', 'MatMulNBits']);

const nodeProto = ({ op, inputs, output, attributes = {} }: OnnxNode) =>
  message(
    ...each(1, inputs, (input) => input),
    [2, output],
    [4, op],
    ...each(5, Object.entries(attributes), attributeProto),
    [7, contrib.has(op) ? 'com.microsoft' : ''],
  );

const dimensionProto = (size: number | string) =>
  typeof size === 'number' ? message([1, size]) : message([2, size]);

const valueProto = ({ name, dtype, shape }: OnnxValue) =>
  message(
    [1, name],
    [2, message([1, message([1, dtype === 'F32' ? 1 : 7], [2, message(...each(1, shape, dimensionProto))])])],
  );

export function onnx(graph: {
  nodes: OnnxNode[];
  tensors: OnnxTensor[];
  inputs: OnnxValue[];
  outputs: OnnxValue[];
}): Uint8Array<ArrayBuffer> {
  const graphProto = message(
    ...each(1, graph.nodes, nodeProto),
    [2, 'graph'],
    ...each(5, graph.tensors, tensorProto),
    ...each(11, graph.inputs, valueProto),
    ...each(12, graph.outputs, valueProto),
  );
  const opset = (domain: string, version: number) => message([1, domain], [2, version]);
  return message([1, 9], [7, graphProto], [8, opset('', 21)], [8, opset('com.microsoft', 1)]);
}
