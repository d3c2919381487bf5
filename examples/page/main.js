// page.html?model=URL&ids=3,1,3        &residency=workers spreads the rows over threads
import { EmbeddingModel } from 'id2vec';

const query = new URLSearchParams(location.search);
const model = await EmbeddingModel.load(query.get('model'), {
  residency: query.get('residency') ?? 'memory',
});
const vectors = await model.lookup(query.get('ids').split(',').map(Number));
const next = await model.topK(vectors, 3);
const result = { dims: vectors.dims, data: [...vectors.data], top: [...next.indices] };
document.querySelector('output').textContent = JSON.stringify(result);
model.dispose();
