import { model } from '../state';
import { showIds } from '../view/show';
import { positions, profile, scale, stage } from '../view/stage';
import { Switch } from './Switch';

const kStages = [
  ['rows', 'raw rows'],
  ['embedded', 'first layer’s input'],
] as const;

/** Rows as stored, or what the first layer receives; there, what is added to the rows. */
export function StageControls() {
  const active = model.value;
  if (!active) return null;
  const own = active.info.profile;
  const change =
    <T extends string>(target: { value: T }) =>
    (value: T) => {
      target.value = value;
      void showIds();
    };
  const places: [typeof positions.value, string][] = [['file', own.positions === 'none' ? 'off' : 'on']];
  if (own.positions !== 'none') places.push(['none', 'off']);
  if (own.positions !== 'sinusoidal-interleaved') places.push(['sinusoidal', 'sinusoidal']);
  return (
    <div class="stage-controls">
      <Switch legend="Show" name="stage" value={stage.value} options={kStages} onChange={change(stage)} />
      {stage.value === 'embedded' && (
        <>
          <Switch
            legend="Positions"
            name="positions"
            value={positions.value}
            options={places}
            onChange={change(positions)}
          />
          <Switch
            legend="Scale"
            name="scale"
            value={scale.value}
            options={[
              ['file', `× ${Number(own.embeddingScale.toPrecision(4))}`],
              ['root', '× √d'],
            ]}
            onChange={change(scale)}
          />
        </>
      )}
      <p class="hint stage-note">{explanation()}</p>
    </div>
  );
}

const list = new Intl.ListFormat('en');

function explanation(): string {
  if (stage.value === 'rows')
    return 'One row of the table for each id, as the file has it: the order of ids does not matter.';
  const { positions: kind = 'none', norm = 'none', embeddingScale = 1 } = profile.value ?? {};
  const steps = [
    embeddingScale === 1 ? '' : 'scales them',
    kind === 'none' ? '' : 'adds a vector for each place, so that order matters',
    norm === 'none' ? '' : 'normalizes',
  ].filter((step) => step !== '');
  if (steps.length === 0)
    return 'This model hands its rows to the first layer as they are; try positions and see what changes.';
  return `Before the first layer the model ${list.format(['takes the rows', ...steps])}.`;
}
