/** What the colours of a heat map mean. */
export const Legend = ({ limit, what }: { limit: number; what: string }) => (
  <p class="legend">
    <span>−{limit.toPrecision(2)}</span>
    <span class="legend-bar" aria-hidden="true" />
    <span>
      +{limit.toPrecision(2)} {what}
    </span>
  </p>
);
