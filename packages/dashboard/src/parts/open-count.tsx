/** @jsxImportSource preact */
import { signal } from "@preact/signals";
import { useRegularly, useResource } from "./resource.ts";

const changes = signal(0);

/** Counts again at once, after something was answered. */
export function countAgain(): void {
  changes.value += 1;
}

interface Props {
  readonly load: (signal: AbortSignal) => Promise<number>;
  readonly what: string;
}

/** How much waits behind an entry of the navigation; nothing where nothing waits. */
export function OpenCount({ load, what }: Props) {
  const { data, reload } = useResource(load, [changes.value]);
  useRegularly(reload);
  if (!data) return null;
  return (
    <span class="open-count">
      {data} <span class="hidden">{what}</span>
    </span>
  );
}
