import * as Plot from '@observablehq/plot';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { Report } from '../training/worker';
import TrainingWorker from '../training/worker?worker';

const kSteps = 600;

/** A small table is trained while one watches: its loss, and which words end up near. */
export function Training() {
  const [report, setReport] = useState<Report>();
  const [running, setRunning] = useState(false);
  const worker = useRef<Worker | undefined>(undefined);
  useEffect(() => () => worker.current?.terminate(), []);

  const start = () => {
    worker.current?.terminate();
    worker.current = new TrainingWorker();
    worker.current.onmessage = ({ data }: MessageEvent<Report>) => {
      setReport(data);
      if (data.neighbours) setRunning(false);
    };
    worker.current.onerror = () => setRunning(false);
    setReport(undefined);
    setRunning(true);
    worker.current.postMessage({ steps: kSteps, seed: 1 + Math.floor(Math.random() * 1000) });
  };

  return (
    <section class="card" aria-labelledby="training-title">
      <header class="card-head">
        <h2 id="training-title">Where the numbers come from</h2>
        <button onClick={start} disabled={running}>
          {running ? 'Training…' : report ? 'Train another one' : 'Train a small one'}
        </button>
      </header>
      <p class="hint">
        A fresh table of random numbers guesses the missing word of a sentence, {kSteps} times 64 words. Each
        step moves only what it should, and words that are used alike end up near each other.
      </p>
      {report && <LossCurve losses={report.losses} />}
      {report?.neighbours && (
        <ul class="neighbours">
          {report.neighbours.map(({ word, near }) => (
            <li key={word}>
              <strong>{word}</strong> {near.join(', ')}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function LossCurve({ losses }: { losses: number[] }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const points = losses.map((loss, i) => ({ step: i + 1, loss }));
    const chart = Plot.plot({
      width: 900,
      height: 180,
      style: { background: 'transparent', fontSize: '13px' },
      x: { domain: [0, kSteps], label: 'step' },
      y: { domain: [0, Math.max(...losses)], grid: true, label: 'loss' },
      marks: [Plot.lineY(points, { x: 'step', y: 'loss', stroke: 'var(--positive)', strokeWidth: 1.5 })],
    });
    host.current?.replaceChildren(chart);
    return () => chart.remove();
  }, [losses]);
  const last = losses.at(-1);
  return (
    <div
      ref={host}
      class="chart"
      role="img"
      aria-label={`loss ${last?.toFixed(2)} after ${losses.length} steps`}
    />
  );
}
