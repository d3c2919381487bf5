// A Cloudflare worker: /?model=URL&ids=3,1,3
import { EmbeddingModel } from 'id2vec';
// workerd compiles no bytes at run time: the module has to be imported, and its second part for safetensors and F32.
import extraWasm from 'id2vec/id2vec.extra.simd128.wasm';
import wasm from 'id2vec/id2vec.simd128.wasm';

export default {
  async fetch(request) {
    const query = new URL(request.url).searchParams;
    const model = await EmbeddingModel.load(query.get('model'), { wasm, extraWasm });
    const vectors = await model.lookup(query.get('ids').split(',').map(Number));
    const next = await model.topK(vectors, 3);
    model.dispose();
    return Response.json({ dims: vectors.dims, data: [...vectors.data], top: [...next.indices] });
  },
};
