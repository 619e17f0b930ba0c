import { setTimeout as sleep } from "node:timers/promises";
import { durationMs } from "@mailsvc/sdk/contract";
import type { Databases } from "./databases.ts";
import { DISTURBANCES } from "./disturbances.ts";
import { INVARIANTS } from "./invariants.ts";
import { hasActed } from "./noun.ts";
import { followActivation } from "./nouns/agents.ts";
import { NOUNS } from "./nouns.ts";
import { pairsOf } from "./pairs.ts";
import type { Receivers } from "./receivers.ts";
import { addressOf, MARKS, picker, type Script, type Step, TENANTS } from "./script.ts";
import { Universe } from "./universe.ts";

const DAY = 86_400_000;
// The longest step takes some seconds of an idle machine.
const STILL_MS = 90_000;
// A step in which time passes, but never enough of it.
const CREEPING_MS = 240_000;

/** The four weeks after the first day: so many days by strides of so many. In the last ones each sweep comes once a day, as it does. */
const REST = [
  [7, 3.5],
  [15.5, 6],
  [4.5, 1],
] as const;

interface Progress {
  /** Present step, for people. */
  doing: string;
}

/** Result of a world. */
export interface Report {
  /** Violations, as `invariant: what`; empty if all holds. */
  readonly broken: readonly string[];
  /** The pairs of a noun and a disturbance that were tried, as `noun disturbance`. */
  readonly pairs: ReadonlySet<string>;
}

/** Lives a world through to its end and holds every invariant against it. */
export async function runScript(script: Script, receivers: Receivers, databases: Databases | null): Promise<Report> {
  const universe = await Universe.open(script, receivers, databases);
  const progress: Progress = { doing: "" };
  const end = new AbortController();
  const broken = await Promise.race([
    live(universe, progress).catch((error: unknown) => [
      `crash: ${progress.doing}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    ]),
    stillness(universe, progress, end.signal),
  ]);
  end.abort();
  const hangs = broken.some((what) => what.startsWith("hang:"));
  // A world that hangs would do so at its end as well.
  if (hangs) void universe.close().catch(() => {});
  else await universe.close();
  return { broken, pairs: universe.pairs };
}

/** Waits until a world stands still: it takes no step for minutes, and for less if its time does not pass either. */
async function stillness(universe: Universe, progress: Progress, end: AbortSignal): Promise<string[]> {
  const look = (): string => `${progress.doing} at ${new Date(universe.now()).toISOString()}`;
  let [step, began, seen, since] = ["", 0, "", 0];
  while (!end.aborted) {
    const now = performance.now();
    if (progress.doing !== step) [step, began] = [progress.doing, now];
    if (look() !== seen) [seen, since] = [look(), now];
    else if (now - since > STILL_MS) return [`hang: ${seen}`];
    if (now - began > CREEPING_MS) return [`hang: ${seen}`];
    await sleep(1000, undefined, { signal: end, ref: false }).catch(() => {});
  }
  return [];
}

async function live(universe: Universe, progress: Progress): Promise<string[]> {
  const broken: string[] = [];
  const look = async (): Promise<void> => {
    for (const { name, always } of INVARIANTS) for (const what of (await always?.(universe)) ?? []) broken.push(`${name}: ${what}`);
  };
  for (const step of universe.script.steps) {
    progress.doing = JSON.stringify(step);
    await take(universe, step);
    await universe.poll();
    if (step.do === "pass") await look();
  }
  progress.doing = "coming to rest";
  await stopDisturbing(universe);
  await look();
  if (broken.length > 0) return broken;
  await comeToRest(universe);
  for (const { name, check } of INVARIANTS) {
    progress.doing = `checking ${name}`;
    for (const what of await check(universe)) broken.push(`${name}: ${what}`);
  }
  return broken;
}

async function take(universe: Universe, step: Step): Promise<void> {
  if (step.do === "pass") return universe.pass(durationMs(step.by));
  if (step.do === "make") {
    const made = await NOUNS[step.noun]?.make({ universe, tenant: step.tenant, pick: picker(step.seed), label: step.as });
    if (made) await universe.add({ ...made, label: step.as, noun: step.noun, tenant: step.tenant });
    return;
  }
  const thing = universe.things.get(step.on);
  if (!thing) return;
  const acted = await DISTURBANCES[step.by]?.(universe, thing, picker(step.seed));
  // A pair is tried where both did something.
  if (acted === undefined || !hasActed(acted)) return;
  const nouns = [...universe.things.values()].map(({ noun }) => noun);
  for (const pair of pairsOf(step.by, nouns)) universe.pairs.add(pair);
}

/** Mends what was broken on purpose, and does what is due. */
async function stopDisturbing(universe: Universe): Promise<void> {
  for (const server of universe.servers) server.spare();
  if (universe.peer) universe.peer.mode = "up";
  universe.mayFail = false;
  await universe.clearFaults();
  await universe.takeOver();
  await universe.settle();
}

/** Lets something happen in each workspace, so that whoever is to learn of it is told once more. */
async function goOn(universe: Universe): Promise<void> {
  for (const tenant of TENANTS) {
    const { emails, events } = universe.sdk(tenant);
    const [from, contact, subject] = ["hello@acme.test", addressOf(0), `Later ${MARKS[tenant]}`];
    const sent = await universe.value(() => emails.send({ from, to: contact, subject, text: "Hello" }));
    if (sent) universe.ledger.accepted.push({ id: sent.id, at: universe.now() });
    await universe.call(() => events.track({ name: "visit", contact }));
  }
}

/** Lets time pass, so that everything that can end has ended. */
async function comeToRest(universe: Universe): Promise<void> {
  await universe.pass(DAY);
  await universe.poll();
  for (const [i, [days, stride]] of REST.entries()) {
    if (i > 0) await goOn(universe);
    await universe.passQuickly(days * DAY, stride * DAY);
    await universe.poll();
  }
  for (const thing of universe.things.values()) if (thing.noun === "agent") await followActivation(universe, thing);
}
