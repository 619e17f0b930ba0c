/** @jsxImportSource preact */
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

const STEPS = [0.4, 0.5, 0.65, 0.8, 1, 1.25, 1.5] as const;
const SMALLEST = STEPS[0];

interface Zoom {
  readonly scale: number;
  in(): void;
  out(): void;
  fit(): void;
  /** Zooms by a key: + and -, and 0 for fitting in. False for another one. */
  press(key: string): boolean;
}

/** The scale of a graph within the element that scrolls it. A graph that is wider is fitted in at first. */
export function useZoom(area: RefObject<HTMLElement | null>, { width, height }: { readonly width: number; readonly height: number }): Zoom {
  const [scale, setScale] = useState(1);
  const room = () => area.current?.closest<HTMLElement>(".flow-area");
  useLayoutEffect(() => {
    const wide = room()?.clientWidth ?? width;
    // Smaller than this, words cannot be read: then it is scrolled.
    if (wide > 0 && wide < width) setScale(Math.max(0.65, Math.min(1, wide / width)));
  }, []);
  const zoom = {
    scale,
    in: () => setScale(STEPS.find((step) => step > scale + 0.01) ?? scale),
    out: () => setScale(STEPS.findLast((step) => step < scale - 0.01) ?? scale),
    fit: () => {
      const { clientWidth = width, clientHeight = height } = room() ?? {};
      setScale(Math.max(SMALLEST, Math.min(1, clientWidth / width, clientHeight / height)));
    },
  };
  const press = (key: string): boolean => {
    const act = { "+": zoom.in, "=": zoom.in, "-": zoom.out, "0": zoom.fit }[key];
    act?.();
    return act !== undefined;
  };
  return { ...zoom, press };
}

export function ZoomBar({ zoom }: { readonly zoom: Zoom }) {
  return (
    <fieldset class="toggles zoom">
      <legend class="hidden">Zoom</legend>
      <button type="button" aria-label="Zoom out" disabled={zoom.scale <= SMALLEST} onClick={zoom.out}>
        −
      </button>
      <output aria-label="Zoom">{Math.round(zoom.scale * 100)} %</output>
      <button type="button" aria-label="Zoom in" disabled={zoom.scale >= 1.5} onClick={zoom.in}>
        +
      </button>
      <button type="button" onClick={zoom.fit}>
        Fit
      </button>
    </fieldset>
  );
}
