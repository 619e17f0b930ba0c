/** @jsxImportSource preact */

import type { TargetedPointerEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatCount } from "./plural.ts";

/** A line of a plot: a name, and a value for each time. */
interface PlotLine {
  readonly name: string;
  readonly values: readonly number[];
  /** Its color: good, busy, warn, bad or plain. */
  readonly tone: string;
  /** The key shows the sum of the values; the last one otherwise. */
  readonly sum?: boolean;
}

interface Props {
  /** Label for screen readers. */
  readonly label: string;
  /** The times of the values, oldest first, as text. */
  readonly times: readonly string[];
  readonly lines: readonly PlotLine[];
}

const HEIGHT = 150;
// Beside the plot, for the numbers of the grid.
const SIDES = 52;
const LEFT = 44;
const STEPS = 4;
// With more times the table has only the numbers of all.
const MOST_READ = 100;

/** A few lines over time, as SVG, with the numbers of the time that is pointed at. Readers who do not see it get its numbers as a table. */
export function LinePlot({ label, times, lines }: Props) {
  const figure = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(1000);
  const [pointed, setPointed] = useState<number | null>(null);
  useEffect(() => {
    // The plot is drawn at its real width: if it were scaled down for a phone, its numbers would be too small to read.
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(100, (entry?.contentRect.width ?? 0) - SIDES)));
    if (figure.current) observer.observe(figure.current);
    return () => observer.disconnect();
  }, []);
  const most = roundUp(Math.max(1, ...lines.flatMap(({ values }) => values)));
  // Counts are of the whole time from one point to the next, so each is a step; a slope would show mails at times without any.
  const isCount = lines.every(({ sum }) => sum === true);
  const last = isCount ? times.length : Math.max(1, times.length - 1);
  const x = (i: number): number => (i / last) * width;
  const trace = (values: readonly number[]): string =>
    values.flatMap((value, i) => (isCount ? [i, i + 1] : [i]).map((at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`)).join(" ");
  const point = ({ clientX, currentTarget }: TargetedPointerEvent<SVGSVGElement>): void => {
    const share = (clientX - currentTarget.getBoundingClientRect().left - LEFT) / width;
    const i = isCount ? Math.floor(share * last) : Math.round(share * last);
    setPointed(Math.max(0, Math.min(times.length - 1, i)));
  };
  // The numbers may have become fewer since.
  const at = pointed === null || pointed >= times.length ? null : pointed;
  const y = (value: number): number => HEIGHT - (value / most) * HEIGHT;
  return (
    <figure class="plot" ref={figure}>
      <figcaption>
        {lines.map((line) => (
          <span key={line.name} class={`key ${line.tone}`}>
            {line.name} <strong>{formatCount(at === null ? read(line) : (line.values[at] ?? 0))}</strong>
          </span>
        ))}
        <span class="at">{at === null ? "" : times[at]}</span>
      </figcaption>
      <svg
        viewBox={`-${LEFT} -8 ${width + SIDES} ${HEIGHT + 30}`}
        role="img"
        aria-label={label}
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={() => setPointed(null)}
      >
        {at === null ? null : <rect class="looked" x={x(isCount ? at : at - 0.5)} width={width / last} y={0} height={HEIGHT} />}
        {Array.from({ length: STEPS + 1 }, (_, i) => (i / STEPS) * most).map((value) => (
          <g key={value}>
            <line class="grid" x1={0} x2={width} y1={y(value)} y2={y(value)} />
            <text x={-8} y={y(value) + 4} text-anchor="end">
              {formatShort(value)}
            </text>
          </g>
        ))}
        <text x={0} y={HEIGHT + 18}>
          {times[0]}
        </text>
        <text x={width} y={HEIGHT + 18} text-anchor="end">
          {times.length < 2 ? null : times.at(-1)}
        </text>
        {lines.map(({ name, values, tone }) => (
          <circle key={name} class={tone} cx={width} cy={y(values.at(-1) ?? 0)} r={3} />
        ))}
        {lines.map(({ name, values, tone }) => (
          <polyline key={name} class={tone} points={trace(values)} />
        ))}
      </svg>
      <table class="hidden">
        <caption>{label}</caption>
        {times.length > MOST_READ ? null : (
          <thead>
            <tr>
              <td />
              <th scope="col">All</th>
              {times.map((time, i) => (
                <th key={i} scope="col">
                  {time}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {lines.map((line) => (
            <tr key={line.name}>
              <th scope="row">{line.name}</th>
              <td>{read(line)}</td>
              {times.length > MOST_READ ? null : line.values.map((value, i) => <td key={i}>{value}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

function read({ values, sum }: PlotLine): number {
  return sum ? values.reduce((all, value) => all + value, 0) : (values.at(-1) ?? 0);
}

/** The next 2, 4 or 8 of a power of ten that the steps of the grid divide into whole numbers. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const most = [1, 2, 4, 8, 10, 20].map((one) => one * power).find((one) => one >= value && one % STEPS === 0);
  return most ?? STEPS;
}

function formatShort(value: number): string {
  return value >= 1000 ? `${value / 1000}k` : String(value);
}
