import { useEffect, useState } from 'preact/hooks';

import { hasPieces, idOf } from '../input/pieces';
import { model } from '../state';
import { NearList, toNear, type Near } from './NearList';

const kWords = { a: 'king', b: 'man', c: 'woman' };
const kIds = { a: '1', b: '2', c: '3' };
const kLabels = { a: 'this', b: 'minus that', c: 'plus that' };

/** a − b + c ≈ ? */
export function Analogy() {
  const active = model.value;
  const [words, setWords] = useState(hasPieces() ? kWords : kIds);
  const [near, setNear] = useState<Near[]>([]);
  const [problem, setProblem] = useState('');
  useEffect(() => setNear([]), [active]);
  const ask = async (event: Event) => {
    event.preventDefault();
    const ids = [words.a, words.b, words.c].map((word) => [word, idOf(word.trim())] as const);
    const missing = ids.filter(([, id]) => id === undefined).map(([word]) => `“${word}”`);
    setNear([]);
    setProblem(missing.length > 0 ? `${missing.join(', ')}: no piece of this vocabulary.` : '');
    if (missing.length > 0 || !active) return;
    const [a, b, c] = ids.map(([, id]) => id!) as [number, number, number];
    try {
      setNear(toNear(await active.analogy({ positive: [a, c], negative: [b] }, 3)));
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const field = (name: 'a' | 'b' | 'c') => (
    <input
      type="text"
      aria-label={kLabels[name]}
      autocapitalize="off"
      value={words[name]}
      onInput={(event) => setWords({ ...words, [name]: event.currentTarget.value })}
    />
  );
  return (
    <form class="analogy" onSubmit={(event) => void ask(event)} aria-label="Analogy">
      {field('a')} <span>−</span> {field('b')} <span>+</span> {field('c')} <button type="submit">≈ ?</button>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <NearList near={near} label="Answers" />
    </form>
  );
}
