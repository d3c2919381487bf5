import { useEffect, useState } from 'preact/hooks';

import { idOf, matrix, model, pieceOf, selectedRow } from '../state';

const kNear = 8;

interface Near {
  id: number;
  value: number;
}

/** What lies around the chosen row, and an analogy to play with. */
export function Neighbours() {
  const active = model.value;
  const id = matrix.value?.ids[selectedRow.value];
  const [near, setNear] = useState<Near[]>([]);
  useEffect(() => {
    let stale = false;
    setNear([]);
    if (active && id !== undefined) {
      void active.nearest(id, Math.min(kNear, active.vocabSize - 1)).then(
        (found) => !stale && setNear(toNear(found)),
        () => !stale && setNear([]),
      );
    }
    return () => {
      stale = true;
    };
  }, [active, id]);
  if (!active || id === undefined) return null;
  return (
    <section class="card" aria-labelledby="near-title">
      <h2 id="near-title">
        Near {pieceOf(id) ?? id}
        <span class="dims">cosine</span>
      </h2>
      <NearList near={near} />
      {active.tokens && <Analogy />}
    </section>
  );
}

/** a − b + c ≈ ? */
function Analogy() {
  const [words, setWords] = useState({ a: 'king', b: 'man', c: 'woman' });
  const [near, setNear] = useState<Near[]>([]);
  const [problem, setProblem] = useState('');
  const ask = async (event: Event) => {
    event.preventDefault();
    const ids = [words.a, words.b, words.c].map((word) => [word, idOf(word)] as const);
    const missing = ids.filter(([, id]) => id === undefined).map(([word]) => word);
    setNear([]);
    setProblem(missing.length > 0 ? `Not in this vocabulary: ${missing.join(', ')}` : '');
    if (missing.length > 0 || !model.value) return;
    const [a, b, c] = ids.map(([, id]) => id!) as [number, number, number];
    try {
      setNear(toNear(await model.value.analogy({ positive: [a, c], negative: [b] }, 3)));
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const field = (name: 'a' | 'b' | 'c') => (
    <input
      type="text"
      aria-label={name}
      value={words[name]}
      onInput={(event) => setWords({ ...words, [name]: event.currentTarget.value })}
    />
  );
  return (
    <form class="analogy" onSubmit={(event) => void ask(event)}>
      {field('a')} <span>−</span> {field('b')} <span>+</span> {field('c')} <button type="submit">≈ ?</button>
      <p class="problem" role="alert">
        {problem}
      </p>
      <NearList near={near} />
    </form>
  );
}

const NearList = ({ near }: { near: Near[] }) => (
  <ol class="near">
    {near.map(({ id, value }) => (
      <li key={id}>
        <span>{pieceOf(id) ?? id}</span>
        <span class="dims">{value.toFixed(3)}</span>
      </li>
    ))}
  </ol>
);

function toNear({ indices, values }: { indices: Int32Array; values: Float32Array }): Near[] {
  return Array.from(indices, (id, i) => ({ id, value: values[i]! }));
}
