import type { ComponentChildren } from 'preact';

interface CardProps {
  /** Prefix of its heading's element id. */
  id: string;
  title: ComponentChildren;
  /** Small print beside the title. */
  note?: ComponentChildren;
  /** What stands at the right of the title. */
  aside?: ComponentChildren;
  children: ComponentChildren;
}

export const Card = ({ id, title, note, aside, children }: CardProps) => (
  <section class="card" id={id} aria-labelledby={`${id}-title`}>
    <header class="card-head">
      <h2 id={`${id}-title`}>
        {title}
        {note !== undefined && <span class="dims">{note}</span>}
      </h2>
      {aside}
    </header>
    {children}
  </section>
);
