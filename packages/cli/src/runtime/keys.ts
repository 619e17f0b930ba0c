import type { Session } from "../types.ts";

export const CTRL_C = "\u0003";

/** Calls `press` for each key, on a terminal only. The returned function gives the terminal back. */
export function listenToKeys({ host, out }: Session, press: (key: string) => void): () => void {
  const stdin = host.stdin as typeof host.stdin & { setRawMode?(on: boolean): unknown };
  if (stdin.isTTY !== true || out.json) return () => {};
  const read = (chunk: Buffer | string): void => {
    for (const key of String(chunk)) press(key);
  };
  stdin.setRawMode?.(true);
  stdin.on("data", read).resume();
  return () => {
    stdin.setRawMode?.(false);
    stdin.off("data", read).pause();
  };
}
