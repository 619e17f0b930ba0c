/** @jsxImportSource preact */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useRegularly, useResource } from "./resource.ts";

const changes = signal(0);

/** Open counts of navigation entries, by the word for the things that wait. */
const waiting = signal<Readonly<Record<string, number>>>({});

/** Counts again at once, after something was answered. */
export function countAgain(): void {
  changes.value += 1;
}

interface Props {
  readonly load: (signal: AbortSignal) => Promise<number>;
  readonly what: string;
}

/** Shows the number of open things behind a navigation entry; nothing for zero. */
export function OpenCount({ load, what }: Props) {
  const { data, reload } = useResource(load, [changes.value]);
  useRegularly(reload);
  useEffect(() => {
    waiting.value = { ...waiting.peek(), [what]: data ?? 0 };
  }, [data, what]);
  return <Count count={data ?? 0} what={what} />;
}

/** Shows the sum of all open counts, for when the entries are out of sight. */
export function OpenTotal() {
  return <Count count={Object.values(waiting.value).reduce((sum, n) => sum + n, 0)} what="open" />;
}

function Count({ count, what }: { readonly count: number; readonly what: string }) {
  if (count === 0) return null;
  return (
    <span class="open-count">
      {count} <span class="hidden">{what}</span>
    </span>
  );
}
