import { useEffect, useRef, useState } from 'preact/hooks';

import type { Figure, Figures } from '../bench/measure';
import type { Report } from '../bench/worker';
import BenchWorker from '../bench/worker?worker';
import { bytes } from '../format';
import { model, modelTitle, origin } from '../state';
import { Card } from './Card';

/** How fast it is here: measured in a worker, beside the speed of this machine's memory. */
export function Bench() {
  const [figures, setFigures] = useState<Figures[]>([]);
  const [running, setRunning] = useState(false);
  const [problem, setProblem] = useState('');
  const worker = useRef<Worker | undefined>(undefined);
  useEffect(() => () => worker.current?.terminate(), []);
  if (!model.value) return null;

  const stop = (reason: string) => {
    worker.current?.terminate();
    setProblem(reason);
    setRunning(false);
  };
  const start = () => {
    worker.current?.terminate();
    worker.current = new BenchWorker();
    worker.current.onmessage = ({ data }: MessageEvent<Report>) => {
      if ('figures' in data) setFigures((before) => [...before, data.figures]);
      else stop('problem' in data ? data.problem : '');
    };
    worker.current.onerror = ({ message }) => stop(message);
    setFigures([]);
    setProblem('');
    setRunning(true);
    const source = origin.value!.source;
    worker.current.postMessage({
      source: typeof source === 'string' ? absolute(source) : source,
      title: modelTitle.value,
    });
  };

  return (
    <Card
      id="bench"
      title="How fast is it here?"
      note={figures[0]?.isa}
      aside={
        <button onClick={start} disabled={running}>
          {running ? 'Measuring…' : 'Measure in this browser'}
        </button>
      }
    >
      <p class="hint">
        Scoring every id once, and looking up 2,048 rows. 100 % is what merely reading or copying the same
        bytes takes here.
      </p>
      {figures.length > 0 && <FigureTable figures={figures} />}
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </Card>
  );
}

// A worker resolves relative addresses against its own script.
const absolute = (source: string) =>
  source.startsWith('hf:') ? source : new URL(source, document.baseURI).href;

const FigureTable = ({ figures }: { figures: Figures[] }) => (
  <table class="figures">
    <thead>
      <tr>
        <th scope="col">table</th>
        <th scope="col">logits</th>
        <th scope="col">lookup</th>
      </tr>
    </thead>
    <tbody>
      {figures.map((row) => (
        <tr key={`${row.name} ${row.dtype}`}>
          <th scope="row">
            {row.dtype}
            <small>
              {row.name}, {row.vocabSize} × {row.dim}, {bytes(row.bytes)}
            </small>
          </th>
          <FigureCell {...row.logits} />
          <FigureCell {...row.lookup} />
        </tr>
      ))}
    </tbody>
  </table>
);

const FigureCell = ({ milliseconds, gigabytesPerSecond, ofMemory }: Figure) => (
  <td>
    <strong>{milliseconds.toFixed(milliseconds < 1 ? 3 : 2)} ms</strong>
    <small>
      {gigabytesPerSecond.toPrecision(gigabytesPerSecond < 1 ? 1 : 3)} GB/s, {Math.round(ofMemory * 100)} %
    </small>
  </td>
);
