import * as Plot from '@observablehq/plot';
import { useCallback, useEffect, useState } from 'preact/hooks';

import { Chart } from '../charts/Chart';
import { nameOf, pieceOf } from '../input/pieces';
import { chosen, model } from '../state';
import { Card } from './Card';

const TOP = 12;

interface Bar {
  label: string;
  value: number;
  self: boolean;
}

/** The table read backwards: the best logits of h · Eᵀ, where h is the chosen vector. */
export function Logits() {
  const active = model.value;
  const pick = chosen.value;
  const [bars, setBars] = useState<Bar[]>([]);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    if (!pick || !active) return setBars([]);
    let stale = false;
    active.topK(pick.hidden, Math.min(TOP, active.vocabSize)).then(
      ({ values, indices }) => {
        if (stale) return;
        setProblem('');
        setBars(Array.from(indices, (id, i) => toBar(id, values[i]!, pick.id)));
      },
      (error: Error) => !stale && setProblem(error.message),
    );
    return () => {
      stale = true;
    };
  }, [pick, active]);
  if (!pick || !active) return null;
  return (
    <Card
      id="logits"
      title={`logits = h · ${active.tied ? 'Eᵀ' : 'Wᵀ'}`}
      note={`top ${bars.length} of ${active.vocabSize.toLocaleString('en')}`}
    >
      <p class="hint">
        h is the vector at position {pick.row}, <strong>{nameOf(pick.id)}</strong>.{' '}
        {active.tied ? 'The same table' : 'The head'}, read backwards, says which ids it points at.
      </p>
      {problem ? <p class="problem">{problem}</p> : bars.length > 0 && <BarChart bars={bars} />}
    </Card>
  );
}

function toBar(id: number, value: number, own: number): Bar {
  const piece = pieceOf(id);
  return { label: piece === undefined ? String(id) : `${piece}  ${id}`, value, self: id === own };
}

function BarChart({ bars }: { bars: Bar[] }) {
  const draw = useCallback((width: number) => drawBars(bars, width), [bars]);
  return <Chart draw={draw} label={bars.map((bar) => `${bar.label}: ${bar.value.toFixed(2)}`).join(', ')} />;
}

function drawBars(bars: Bar[], width: number): Element {
  const values = bars.map((bar) => bar.value);
  return Plot.plot({
    marginLeft: Math.min(150, width * 0.4),
    marginRight: 54,
    marginTop: 4,
    marginBottom: 4,
    height: bars.length * 26 + 8,
    width,
    style: { background: 'transparent', fontSize: '13px' },
    x: { axis: null, domain: [Math.min(0, ...values), Math.max(0, ...values)] },
    y: { label: null, domain: bars.map((bar) => bar.label), tickSize: 0 },
    marks: [
      Plot.barX(bars, {
        x: 'value',
        y: 'label',
        fill: (bar: Bar) => (bar.self ? 'var(--accent)' : 'var(--positive)'),
        insetTop: 3,
        insetBottom: 3,
        rx: 3,
      }),
      Plot.text(bars, {
        x: (bar: Bar) => Math.max(0, bar.value),
        y: 'label',
        text: (bar: Bar) => bar.value.toFixed(2),
        textAnchor: 'start',
        fill: 'currentColor',
        dx: 6,
      }),
    ],
  });
}
