interface SwitchProps<T extends string> {
  legend: string;
  name: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}

/** A few choices side by side: radio buttons, so that arrow keys move between them. */
export function Switch<T extends string>({ legend, name, value, options, onChange }: SwitchProps<T>) {
  return (
    <fieldset class="switch">
      <legend>{legend}</legend>
      <div class="switch-options">
        {options.map(([key, label]) => (
          <label key={key}>
            <input type="radio" name={name} checked={value === key} onChange={() => onChange(key)} />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
