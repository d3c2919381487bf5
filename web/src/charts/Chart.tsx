import { useEffect, useRef } from 'preact/hooks';

interface ChartProps {
  /** Draws for a width in pixels, so that letters keep their size on a phone. */
  draw: (width: number) => Element;
  /** What a person who does not see it should know. */
  label: string;
}

/** A drawing as wide as its place; it is drawn anew when the place or its data change. */
export function Chart({ draw, label }: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const place = host.current!;
    let width = 0;
    const redraw = () => {
      if (place.clientWidth === width || place.clientWidth === 0) return;
      width = place.clientWidth;
      place.replaceChildren(draw(width));
    };
    const observer = new ResizeObserver(redraw);
    observer.observe(place);
    redraw();
    return () => observer.disconnect();
  }, [draw]);
  return <div ref={host} class="chart" role="img" aria-label={label} />;
}
