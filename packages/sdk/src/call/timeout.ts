import type { Runtime } from "../runtime.ts";

/** How a piece of work ended: with its value, out of time, or called off. */
export type TimeoutResult<T> = { readonly value: T } | { readonly cut: "time" | "abort" };

/**
 * Does a piece of work within `ms` and only as long as `outer` does not abort. The work gets a signal to stop by, but
 * is not waited for: a transport that ignores signals cannot hold a caller beyond the limit. Its own failure rejects.
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
