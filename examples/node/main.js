// node|deno|bun main.js MODEL ID...      MODEL: a path or URL of a GGUF, safetensors, PyTorch, npy or ONNX file
// RESIDENCY=workers in the environment spreads the rows over threads, RESIDENCY=remote fetches the rows it needs.
import { EmbeddingModel } from 'id2vec';

const [source, ...ids] = process.argv.slice(2);
const model = await EmbeddingModel.load(source, { residency: process.env.RESIDENCY ?? 'memory' });
const vectors = await model.lookup(ids.map(Number));
const next = await model.topK(vectors, 3);
console.log(JSON.stringify({ dims: vectors.dims, data: [...vectors.data], top: [...next.indices] }));
model.dispose();
