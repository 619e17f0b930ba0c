import type { AgentEvent } from "../contract.generated.ts";
import type { RecordedCall } from "../testing/recording-marketplace.ts";
import type { Advice, Explained } from "./case.ts";
import { listMore, type Noise, type Rhythm, type Stage, type StagedActivation } from "./stage.ts";

/** The reason for which a case was not graded. */
interface Skipped {
  readonly skipped: string;
}

/** The fault, with a cause of its own in place of the one that its case names, or the reason why it cannot be told; null without one. */
export type Finding = string | null | Skipped | Explained;

/** Something that is judged when all other cases are. */
interface Later {
  readonly later: () => Promise<Finding>;
}

/** Something an agent must do over the life of an activation. */
export interface StateCase {
  readonly id: string;
  readonly title: string;
  readonly mistake: string;
  readonly fix: string;
  /** The event it is about, for the command that sends it. */
  readonly event: AgentEvent["type"];
  /** Cases without which this one means nothing: they must not have failed. */
  readonly needs: readonly string[];
  readonly perform: (stage: Stage) => Promise<Finding | Later>;
}

export const NO_REASON: Skipped = {
  skipped: "The agent makes no call after a message and asks for no approval, so nothing shows which key it has.",
};
const NOTHING_TO_STOP: Skipped = {
  skipped: "The agent made no call of itself before, so nothing was there to stop. Let a run work for some minutes to have this graded.",
};
const TOO_SELDOM: Skipped = {
  skipped: "The agent calls too seldom for the check to see whether it stops. Let its run log every few seconds to have this graded.",
};

const TOO_LATE: Advice = {
  mistake: "The event is acknowledged before it takes effect, or the agent stops only because its calls are refused.",
  fix: "Store what the event says, and stop the work of its activation or run, before you answer.",
};
// A killed process may have sent a call that has not arrived.
const RESTART_GRACE_MS = 50;

/** The fault of calls that went on after an event had been acknowledged. */
export function describeNoise({ problem, stops }: Noise): Finding {
  return stops ? { ...TOO_LATE, problem } : problem;
}

/** Waits until an agent of this rhythm would have made its next call for an activation. */
export async function watchQuiet(stage: Stage, { id }: StagedActivation, rhythm: Rhythm, since?: number): Promise<Finding> {
  const noise = await stage.quiet(({ activationId }) => activationId === id, rhythm, since === undefined ? {} : { since });
  return noise ? describeNoise(noise) : judgeRhythm(rhythm);
}

/** Waits until an agent of this rhythm would have made its next call for an activation since it was started. */
export async function watchQuietStart(stage: Stage, { id }: StagedActivation, rhythm: Rhythm, startedAt: number): Promise<Finding> {
  const isOwn = ({ activationId }: RecordedCall): boolean => activationId === id;
  const noise = await stage.quiet(isOwn, rhythm, { since: startedAt, graceMs: RESTART_GRACE_MS });
  return noise ? noise.problem : judgeRhythm(rhythm);
}

function judgeRhythm(rhythm: Rhythm): Skipped | null {
  if (rhythm === "none") return NOTHING_TO_STOP;
  return rhythm === "unknown" ? TOO_SELDOM : null;
}

/** Delivers the newest message.posted three times more. Returns which effects there are more of, with their numbers. */
export async function listRepeatedWork(stage: Stage, activation: StagedActivation): Promise<string[]> {
  await stage.delivered("message.posted", activation.id);
  await stage.rest();
  const before = await stage.effects(activation);
  const { slug, world } = stage.market;
  const [event] = (await world.builder.sdk.deliveries.list(slug, { type: "message.posted", activationId: activation.id })).data;
  for (let n = 0; n < 3 && event; n += 1) {
    await world.builder.sdk.deliveries.redeliver(slug, event.id);
    await stage.rest();
  }
  await stage.sleep(stage.limits.quietMs);
  return listMore(before, await stage.effects(activation));
}

/** The ids of the runs that are RUNNING: they neither ended nor wait. */
export async function listRunsAtWork({ first, second, third }: Stage): Promise<string[]> {
  const found: string[] = [];
  for (const activation of [first, second, third]) {
    const runs = activation ? (await activation.brand.runs.list(activation.id)).data : [];
    found.push(...runs.flatMap(({ runId, status }) => (status === "RUNNING" ? [runId] : [])));
  }
  return found;
}

/** Describes what the agent did in place of a call that succeeds. */
export function describeRefusals(stage: Stage, activation: StagedActivation, since = 0): string {
  const refused = stage.callsOf(activation, since).findLast(({ status }) => status >= 300);
  return refused ? `its calls were refused, the last one with ${refused.status} (${refused.method} ${refused.path}),` : "it made no call";
}

export function given(activation: StagedActivation | null): StagedActivation {
  if (activation === null) throw new Error("The case before this one has not passed.");
  return activation;
}
