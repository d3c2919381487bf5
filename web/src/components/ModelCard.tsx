import { bytes, integer } from '../format';
import { model, modelTitle } from '../state';

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
    ['runs on', info.isa],
  ];
  return (
    <section class="card" aria-labelledby="model-title">
      <header class="card-head">
        <h2 id="model-title">{modelTitle.value}</h2>
      </header>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
