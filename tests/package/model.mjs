// A small safetensors file with a table whose weights are a formula, and what the examples must print for it.
const rows = 300;
const columns = 48;
export const ids = [3, 1, 3, 299];

const weight = (id, column) => (((id * 37 + column * 11) % 256) - 128) / 64;

export function modelFile() {
  const name = 'model.embed_tokens.weight';
  const bytes = rows * columns * 4;
  const json = JSON.stringify({ [name]: { dtype: 'F32', shape: [rows, columns], data_offsets: [0, bytes] } });
  const header = Buffer.from(json.padEnd(Math.ceil(json.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const weights = new Float32Array(rows * columns);
  for (let id = 0; id < rows; id += 1) {
    for (let column = 0; column < columns; column += 1) weights[id * columns + column] = weight(id, column);
  }
  return Buffer.concat([length, header, Buffer.from(weights.buffer)]);
}

/** { dims, data, top } by plain arithmetic in double precision. */
export function expected() {
  const vectors = ids.map((id) => Array.from({ length: columns }, (_, column) => weight(id, column)));
  const top = vectors.flatMap((hidden) => {
    const scores = Array.from({ length: rows }, (_, id) =>
      hidden.reduce((sum, value, column) => sum + value * weight(id, column), 0),
    );
    return [...scores.keys()].sort((a, b) => scores[b] - scores[a] || a - b).slice(0, 3);
  });
  return { dims: [ids.length, columns], data: vectors.flat(), top };
}
