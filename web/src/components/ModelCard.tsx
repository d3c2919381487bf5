import { bytes, integer } from '../format';
import { model, modelTitle } from '../state';
import { Card } from './Card';

/** What the model is: the facts of its first and last layer. */
export function ModelCard() {
  const active = model.value;
  if (!active) return null;
  const { info } = active;
  const facts: [string, string][] = [
    ['container', info.container],
    ['architecture', info.architecture || 'not stated'],
    ['table', `[${integer(active.vocabSize)}, ${integer(active.dim)}]`],
    ['format', active.dtype],
    ['head', active.tied ? 'tied: the same bytes' : 'a table of its own'],
    ['parameters', integer(info.parameters)],
    ['bytes', bytes(info.bytes)],
    ['memory in use', bytes(info.memory.heap)],
    ['runs on', info.isa],
  ];
  return (
    <Card id="model" title={modelTitle.value}>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {info.warnings.map((warning) => (
        <p class="hint" key={warning}>
          {warning}
        </p>
      ))}
    </Card>
  );
}
