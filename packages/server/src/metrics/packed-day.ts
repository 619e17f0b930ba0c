/**
 * Numbers of a UTC day by its quarters of an hour, packed: for each quarter that has any, in order, a byte with its index (0 to 95), a byte with
 * the length of what follows, and the numbers of `METRICS` without zeros at the end, seven bits to a byte, the lowest first. A byte
 * with its eighth bit set goes on in the next one.
 *
 * As JSON a month by 20 values took 170 ms to read, nearly all of it for the parser.
 */
type PackedDay = Uint8Array;

/** Numbers by the quarter of the day. */
export type Quarters = ReadonlyMap<number, readonly number[]>;

const MORE = 0x80;

/** A day without numbers. */
export const EMPTY_DAY: PackedDay = Buffer.alloc(0);

/** Packs numbers, which are not negative. Equal numbers give equal bytes. */
export function packDay(quarters: Quarters): PackedDay {
  const bytes: number[] = [];
  for (const [quarter, numbers] of [...quarters].sort(([a], [b]) => a - b)) {
    const last = numbers.findLastIndex((n) => n !== 0);
    if (last === -1) continue;
    const head = bytes.push(quarter, 0);
    for (let i = 0; i <= last; i += 1) {
      let rest = numbers[i] ?? 0;
      for (; rest >= MORE; rest = Math.floor(rest / MORE)) bytes.push((rest % MORE) + MORE);
      bytes.push(rest);
    }
    bytes[head - 1] = bytes.length - head;
  }
  return Buffer.from(bytes);
}

/** Adds the numbers of each quarter to those that `findSum` gives for it; leaves out a quarter for which it gives none. */
export function addDay(day: PackedDay, findSum: (quarter: number) => number[] | undefined): void {
  for (let at = 0; at < day.length; ) {
    const sum = findSum(day[at] ?? 0);
    const end = at + 2 + (day[at + 1] ?? 0);
    at += 2;
    for (let i = 0; sum !== undefined && at < end; i += 1) {
      let byte = day[at++] ?? 0;
      let n = byte;
      // The bit that says there is more has been added with its byte: the next one is counted one lower.
      for (let scale = MORE; byte >= MORE; scale *= MORE) {
        byte = day[at++] ?? 0;
        n += (byte - 1) * scale;
      }
      sum[i] = (sum[i] ?? 0) + n;
    }
    at = end;
  }
}

/** The numbers of a day. */
export function unpackDay(day: PackedDay): Map<number, number[]> {
  const quarters = new Map<number, number[]>();
  addDay(day, (quarter) => {
    const numbers: number[] = [];
    quarters.set(quarter, numbers);
    return numbers;
  });
  return quarters;
}

/** The sum of numbers, by quarter. */
export function sumQuarters(one: Quarters, other: Quarters): Quarters {
  const all = new Map(one);
  for (const [quarter, numbers] of other) {
    const before = all.get(quarter) ?? [];
    const [longer, shorter] = before.length > numbers.length ? [before, numbers] : [numbers, before];
    all.set(
      quarter,
      longer.map((n, i) => n + (shorter[i] ?? 0)),
    );
  }
  return all;
}

/** Adds numbers to those of a day. */
export function sumDay(day: PackedDay | null, quarters: Quarters): PackedDay {
  return packDay(sumQuarters(unpackDay(day ?? EMPTY_DAY), quarters));
}
