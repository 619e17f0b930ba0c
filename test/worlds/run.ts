import { durationMs } from "@mailsvc/sdk/contract";
import { DISTURBANCES } from "./disturbances.ts";
import { INVARIANTS } from "./invariants.ts";
import { followActivation } from "./nouns/agents.ts";
import { NOUNS } from "./nouns.ts";
import type { Receivers } from "./receivers.ts";
import { picker, type Script, type Step } from "./script.ts";
import { Universe } from "./universe.ts";

const DAY = 86_400_000;

/** What came of a world. */
export interface Report {
  /** What does not hold, as `invariant: what`; empty if all does. */
  readonly broken: readonly string[];
  /** The pairs of a noun and a disturbance that were tried, as `noun disturbance`. */
  readonly pairs: ReadonlySet<string>;
}

/** Lives a world through to its end and holds every invariant against it. */
export async function runScript(script: Script, receivers: Receivers, databaseUrl?: string): Promise<Report> {
  const universe = await Universe.open(script, receivers, databaseUrl);
  const pairs = new Set<string>();
  try {
    for (const step of script.steps) {
      await take(universe, step, pairs);
      await universe.poll();
    }
    await comeToRest(universe);
    const broken: string[] = [];
    for (const { name, check } of INVARIANTS) for (const what of await check(universe)) broken.push(`${name}: ${what}`);
    return { broken, pairs };
  } catch (error) {
    return { broken: [`crash: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`], pairs };
  } finally {
    await universe.close();
  }
}

async function take(universe: Universe, step: Step, pairs: Set<string>): Promise<void> {
  if (step.do === "pass") return universe.pass(durationMs(step.by));
  if (step.do === "make") {
    const made = await NOUNS[step.noun]?.make({ universe, tenant: step.tenant, pick: picker(step.seed), label: step.as });
    if (made) await universe.add({ ...made, label: step.as, noun: step.noun, tenant: step.tenant });
    return;
  }
  const thing = universe.things.get(step.on);
  if (!thing) return;
  await DISTURBANCES[step.by]?.(universe, thing, picker(step.seed));
  for (const { noun } of universe.things.values()) pairs.add(`${noun} ${step.by}`);
}

/** Mends what was broken on purpose and lets time pass, so that everything that can end has ended. */
async function comeToRest(universe: Universe): Promise<void> {
  for (const server of universe.servers) server.spare();
  if (universe.peer) universe.peer.mode = "up";
  universe.mayFail = false;
  await universe.call(() => universe.sdk("a").faults.clear());
  for (const days of [1, 7, 20]) {
    await universe.pass(days * DAY);
    await universe.poll();
  }
  for (const thing of universe.things.values()) if (thing.noun === "agent") await followActivation(universe, thing);
}
