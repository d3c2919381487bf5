import * as Plot from '@observablehq/plot';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

import { Chart } from '../charts/Chart';
import type { Report } from '../training/worker';
import TrainingWorker from '../training/worker?worker';
import { Card } from './Card';

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
    <Card
      id="training"
      title="Where the numbers come from"
      aside={
        <button onClick={start} disabled={running}>
          {running ? 'Training…' : report ? 'Train another one' : 'Train a small one'}
        </button>
      }
    >
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
    </Card>
  );
}

function LossCurve({ losses }: { losses: number[] }) {
  const draw = useCallback((width: number) => drawLosses(losses, width), [losses]);
  return <Chart draw={draw} label={`loss ${losses.at(-1)?.toFixed(2)} after ${losses.length} steps`} />;
}

const drawLosses = (losses: number[], width: number): Element =>
  Plot.plot({
    width,
    height: 180,
    style: { background: 'transparent', fontSize: '13px' },
    x: { domain: [0, kSteps], label: 'step' },
    y: { domain: [0, Math.max(...losses)], grid: true, label: 'loss' },
    marks: [
      Plot.lineY(
        losses.map((loss, i) => ({ step: i + 1, loss })),
        { x: 'step', y: 'loss', stroke: 'var(--positive)', strokeWidth: 1.5 },
      ),
    ],
  });
