/** One line of a diff: unchanged, removed or added. */
interface DiffLine {
  sign: " " | "-" | "+";
  text: string;
}

// With more differing lines than this, the whole text is shown as replaced.
const MAX_EDITS = 1000;

/** Compares two texts line by line. */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = before === "" ? [] : before.split("\n");
  const b = after === "" ? [] : after.split("\n");
  return (
    findShortestEdit(a, b) ?? [...a.map((text): DiffLine => ({ sign: "-", text })), ...b.map((text): DiffLine => ({ sign: "+", text }))]
  );
}

/** Selects the differing lines with `around` lines of context; `null` marks omitted lines. */
export function selectHunks(lines: readonly DiffLine[], around = 2): (DiffLine | null)[] {
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - around), i + around + 1).some((line) => line.sign !== " "));
  return lines.flatMap((line, i) => (near[i] ? [line] : i > 0 && near[i - 1] ? [null] : []));
}

/** The shortest edit script between two lists of lines (Myers), or null when it has more than MAX_EDITS steps. */
function findShortestEdit(a: readonly string[], b: readonly string[]): DiffLine[] | null {
  const trace: Map<number, number>[] = [];
  const v = new Map<number, number>([[1, 0]]);
  for (let d = 0; d <= Math.min(a.length + b.length, MAX_EDITS); d += 1) {
    trace.push(new Map(v));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (v.get(k - 1) ?? -1) < (v.get(k + 1) ?? -1));
      let x = down ? (v.get(k + 1) ?? 0) : (v.get(k - 1) ?? 0) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x += 1;
        y += 1;
      }
      v.set(k, x);
      if (x >= a.length && y >= b.length) return backtrack(a, b, trace);
    }
  }
  return null;
}

function backtrack(a: readonly string[], b: readonly string[], trace: readonly Map<number, number>[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let x = a.length;
  let y = b.length;
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const v = trace[d] as Map<number, number>;
    const k = x - y;
    const down = k === -d || (k !== d && (v.get(k - 1) ?? -1) < (v.get(k + 1) ?? -1));
    const before = down ? k + 1 : k - 1;
    const px = v.get(before) ?? 0;
    const py = px - before;
    while (x > px && y > py) {
      lines.push({ sign: " ", text: a[x - 1] as string });
      x -= 1;
      y -= 1;
    }
    if (d > 0) lines.push(down ? { sign: "+", text: b[y - 1] as string } : { sign: "-", text: a[x - 1] as string });
    x = px;
    y = py;
  }
  return lines.reverse();
}
