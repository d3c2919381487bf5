import { useEffect, useState } from 'preact/hooks';

import { hasPieces, nameOf } from '../input/pieces';
import { chosen, model } from '../state';
import { Analogy } from './Analogy';
import { Card } from './Card';
import { NearList, toNear, type Near } from './NearList';

const kNear = 8;

/** What lies around the row of the chosen id, and an analogy to play with. */
export function Neighbours() {
  const active = model.value;
  const id = chosen.value?.id;
  const [near, setNear] = useState<Near[]>([]);
  useEffect(() => {
    let stale = false;
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
    <Card id="near" title={`Near ${nameOf(id)}`} note="cosine">
      <NearList near={near} label={`Nearest to ${nameOf(id)}`} />
      <Analogy key={String(hasPieces())} />
    </Card>
  );
}
