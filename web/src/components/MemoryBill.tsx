import type { MemoryBill as Bill } from 'id2vec';

import { bytes, integer } from '../format';
import { model } from '../state';
import { Card } from './Card';

/** Those that people meet in files; the others are a click away. */
const kCommon = ['F32', 'F16', 'Q8_0', 'Q6_K', 'Q5_K', 'Q4_K', 'Q4_0', 'Q3_K', 'Q2_K'];

/** What the table costs now, and what it would cost in each format and factorized. */
export function MemoryBill() {
  const active = model.value;
  if (!active) return null;
  const { memoryBill: bill, dtype } = active.info;
  const formats = [...bill.formats].sort((a, b) => b.bytes - a.bytes);
  const common = formats.filter(({ format }) => kCommon.includes(format) || format === dtype);
  return (
    <Card id="bill" title="The bill" note={`${integer(bill.parameters)} weights`}>
      <p class="hint">
        Embedding and head take {bytes(bill.bytes)}, {Math.round(bill.shareOfFile * 100)} % of the file.{' '}
        {active.tied ? 'Being one table saves' : 'Being one table would save'} {bytes(bill.savedByTying)}.
      </p>
      <Formats formats={common} now={dtype} label="Bytes of the embedding in common formats" />
      <details>
        <summary>All {formats.length} formats that its width allows</summary>
        <Formats formats={formats} now={dtype} label="Bytes of the embedding in each format" />
      </details>
      <Factorized {...bill} />
    </Card>
  );
}

interface FormatsProps {
  formats: Bill['formats'];
  now: string;
  label: string;
}

function Formats({ formats, now, label }: FormatsProps) {
  const most = Math.max(...formats.map((format) => format.bytes));
  return (
    <table class="bill">
      <caption class="visually-hidden">{label}</caption>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">format</th>
          <th scope="col">bytes</th>
        </tr>
      </thead>
      <tbody>
        {formats.map((format) => (
          <tr key={format.format} class={format.format === now ? 'now' : undefined}>
            <th scope="row">
              {format.format}
              {format.format === now && <small> now</small>}
            </th>
            <td>{bytes(format.bytes)}</td>
            <td class="bill-bar" aria-hidden="true">
              <span style={{ width: `${(format.bytes / most) * 100}%` }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Factorized({ factorized, breakEvenRank }: Bill) {
  if (factorized.length === 0) return null;
  const sizes = factorized.map(({ rank, bytes: size }) => `${bytes(size)} at rank ${rank}`);
  return (
    <p class="hint">
      As a product of two thin tables it would take {sizes.join(', ')}; from rank {breakEvenRank} on, nothing
      is saved.
    </p>
  );
}
