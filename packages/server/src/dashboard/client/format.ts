/** Times and sizes as text. Times are relative to the server's clock, which can differ from the browser's. */
export function format() {
  const MINUTE = 60_000;
  let now = 0;

  const clockTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  const span = (ms: number): string => {
    const units: [string, number][] = [
      ["d", 86_400_000],
      ["h", 3_600_000],
      ["m", MINUTE],
      ["s", 1000],
    ];
    const first = units.findIndex(([, size]) => ms >= size);
    if (first < 0) return "less than 1s";
    let rest = ms;
    const parts: string[] = [];
    for (const [unit, size] of units.slice(first, first + 2)) {
      if (rest >= size) parts.push(`${Math.floor(rest / size)}${unit}`);
      rest %= size;
    }
    return parts.join(" ");
  };
  const when = (iso: string): string => {
    const time = Date.parse(iso);
    const age = now - time;
    if (now > 0 && age >= 0 && age < MINUTE) return "now";
    if (now > 0 && age >= 0 && age < 60 * MINUTE) return `${Math.floor(age / MINUTE)} min`;
    const sameDay = now > 0 && new Date(now).toDateString() === new Date(time).toDateString();
    return sameDay
      ? new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
      : new Date(time).toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" });
  };
  const bytes = (n: number): string =>
    n < 1024 ? `${n} B` : n < 1_048_576 ? `${(n / 1024).toFixed(1)} KB` : `${(n / 1_048_576).toFixed(1)} MB`;
  return {
    clockTime,
    span,
    when,
    bytes,
    /** The server's time, ms; 0 until it is known. */
    now: () => now,
    set: (ms: number) => {
      now = ms;
    },
  };
}
export type Format = ReturnType<typeof format>;
