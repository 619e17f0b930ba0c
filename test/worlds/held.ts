import { expect, test } from "vitest";
import { liveOnce } from "./live.ts";
import type { Script } from "./script.ts";

/** A test that everything holds in the world of a script: one that failed once, as `npm run worlds` printed it. */
export function held(what: string, script: Script): void {
  test(`${what}: holds in a world of ${script.steps.length} steps`, async () => {
    expect(await liveOnce(script)).toEqual([]);
  });
}
