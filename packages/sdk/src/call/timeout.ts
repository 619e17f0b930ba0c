import type { Runtime } from "../runtime.ts";

/** The outcome of `withTimeout`: the value, or which of the two limits cut it off. */
type TimeoutResult<T> = { readonly value: T } | { readonly cut: "time" | "abort" };

/**
 * Runs `work` for at most `ms`, or until `outer` aborts. Its signal asks the work to stop, but the result does not wait
 * for that, so a transport that ignores signals cannot hold the caller. Rejects when the work rejects.
 */
export function withTimeout<T>(
  ms: number,
  outer: AbortSignal | undefined,
  after: Runtime["after"],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<TimeoutResult<T>> {
  if (outer?.aborted) return Promise.resolve({ cut: "abort" });
  const inner = new AbortController();
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      cancel();
      outer?.removeEventListener("abort", onAbort);
      finish();
    };
    const stop = (cut: "time" | "abort") => {
      settle(() => resolve({ cut }));
      inner.abort();
    };
    const onAbort = () => stop("abort");
    const cancel = after(ms, () => stop("time"));
    outer?.addEventListener("abort", onAbort);
    work(inner.signal).then(
      (value) => settle(() => resolve({ value })),
      (error) => settle(() => reject(error)),
    );
  });
}
