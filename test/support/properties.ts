import fc from "fast-check";
import { beforeEach } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Of so many cases that are tried one by one, one is tried: all before a release, fewer where CI waits. */
    oneCaseIn: number;
  }
}

// Share of a test's time for its runs: the rest is for its report.
const SHARE = 0.8;

// A property that fails is made smaller only as long as its test has time, and one that would run out of it fails by
// itself: either way the report names seed and path, which a test that timed out does not. PROPERTY_SEED repeats a search.
beforeEach(({ task }) => {
  const { PROPERTY_SEED: seed } = process.env;
  fc.configureGlobal({
    interruptAfterTimeLimit: task.timeout * SHARE,
    markInterruptAsFailure: true,
    ...(seed !== undefined && { seed: Number(seed) }),
  });
});
