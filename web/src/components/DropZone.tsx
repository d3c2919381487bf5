import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { openFiles } from '../model/open';

/** The whole page takes dropped files. */
export function DropZone({ children }: { children: ComponentChildren }) {
  const [over, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void openFiles([...(event.dataTransfer?.files ?? [])]);
  };
  const hover = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <div
      class={over ? 'page dropping' : 'page'}
      onDragOver={hover}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      {children}
    </div>
  );
}
