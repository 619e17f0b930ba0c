/**
 * Runs `work` for one caller at a time, for each key. Callers that come while it runs share one further run, which begins after it: so
 * each gets a run that began after its call.
 */
export function shareRuns<T>(work: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  const waiting = new Map<string, Promise<T>>();
  const start = (key: string): Promise<T> => {
    const run = work(key).finally(() => running.delete(key));
    running.set(key, run);
    return run;
  };
  return (key) => {
    const shared = waiting.get(key);
    if (shared) return shared;
    const current = running.get(key);
    if (!current) return start(key);
    const next = current
      .catch(() => {})
      .then(() => {
        waiting.delete(key);
        return start(key);
      });
    waiting.set(key, next);
    return next;
  };
}
