import type { AgentEvent } from "../contract.generated.ts";
import { currentTime } from "../runtime.ts";
import type { Stage, StagedActivation } from "./stage.ts";

/** Why a case was not graded. */
interface Skipped {
  readonly skipped: string;
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
  /** What is wrong; null when nothing is. */
  readonly perform: (stage: Stage) => Promise<string | null | Skipped>;
}

const NO_REASON: Skipped = {
  skipped: "The agent makes no call after a message and asks for no approval, so nothing shows which key it has.",
};
const NOTHING_TO_STOP: Skipped = {
  skipped: "The agent made no call of itself before, so nothing was there to stop. Let a run work for some minutes to have this graded.",
};
const POLL_MS = 50;

/**
 * The cases, in their order: each goes on where the one before it ended. The last one moves the clock of the service away from that of the
 * machine, and a library that checks the age of signatures would refuse what comes after it.
 */
export const STATE_CASES: readonly StateCase[] = [
  {
    id: "state-activated",
    title: "acknowledges the agent.activated of a real activation",
    mistake: "The handler of agent.activated throws, takes longer than 8 seconds, or the secret is another one.",
    fix: "Verify with AGENT_WEBHOOK_SECRET, store the key, answer 2xx, and work afterwards.",
    event: "agent.activated",
    needs: [],
    perform: async (stage) => {
      stage.first = await stage.activate(stage.market.brands[0]);
      return stage.delivered("agent.activated", stage.first.id);
    },
  },
  {
    id: "state-key-used",
    title: "calls the service with the key of agent.activated",
    mistake: "The key is not taken from apiKey, or the agent calls another address than MAILSVC_URL.",
    fix: "Store apiKey with its activationId before you answer, and send it as Authorization: Bearer KEY to MAILSVC_URL.",
    event: "agent.activated",
    needs: ["state-activated"],
    perform: async (stage) => {
      const first = given(stage.first);
      const atOnce = await stage.expectCall(first, 0);
      // Also when it has called: the next cases must know what makes it call, from a time when nothing was wrong yet.
      const call = (await stage.nudge(first)) ?? atOnce;
      if (call === null) return `${describeRefusals(stage, first)} after its activation and a message`;
      first.key = call.key;
      await stage.rest();
      return null;
    },
  },
  {
    id: "state-own-key",
    title: "keeps the keys of two activations apart",
    mistake: "One variable holds the key, or the id, of the last activation.",
    fix: "Keep a key for each activationId, and use that of the event you are handling.",
    event: "agent.activated",
    needs: ["state-key-used"],
    perform: async (stage) => {
      const first = given(stage.first);
      const second = await stage.activate(stage.market.brands[1]);
      stage.second = second;
      const refused = await stage.delivered("agent.activated", second.id);
      if (refused) return refused;
      const call = (await stage.expectCall(second, 0)) ?? (await stage.nudge(second));
      if (call === null) return `${describeRefusals(stage, second)} for the second activation`;
      second.key = call.key;
      await stage.rest();
      if (stage.answersMessages && (await stage.nudge(first)) === null)
        return `${describeRefusals(stage, first)} for the first activation once there was a second one`;
      const mixed = stage.market.calls.find(
        ({ activationId, key }) => (activationId === first.id && key === second.key) || (activationId === second.id && key === first.key),
      );
      return mixed ? `${mixed.method} ${mixed.path} was made with the key of the other activation` : null;
    },
  },
  {
    id: "state-repeated",
    title: "does the work of a repeated event once",
    mistake: "Events are not deduplicated: each copy is worked on again.",
    fix: "Remember the id of each event you have accepted, durably, and answer 2xx to repeats without working on them.",
    event: "message.posted",
    needs: ["state-key-used"],
    perform: async (stage) => {
      const first = given(stage.first);
      if (!stage.answersMessages) return { skipped: "The agent makes no call after a message, so its work cannot be counted." };
      const more = await listRepeatedWork(stage, first);
      // An agent that was slow with an earlier event may have ended its work in between. It does so once.
      if (more.length === 0 || (await listRepeatedWork(stage, first)).length === 0) return null;
      return `three repeats of one message.posted led to more ${more.join(", ")}`;
    },
  },
  {
    id: "state-paused",
    title: "stops calling when it is paused",
    mistake: "agent.paused is acknowledged and ignored: jobs, polling or runs go on.",
    fix: "Store the pause before you answer, stop the work of this activation, and check it before each call.",
    event: "agent.paused",
    needs: ["state-key-used"],
    perform: async (stage) => {
      const first = given(stage.first);
      const works = await stage.worksByItself(first);
      await first.brand.activations.pause(first.id);
      const problem =
        (await stage.delivered("agent.paused", first.id)) ?? (await stage.quiet(({ activationId }) => activationId === first.id));
      return problem ?? (works ? null : NOTHING_TO_STOP);
    },
  },
  {
    id: "state-paused-others",
    title: "goes on for other brands while one has paused it",
    mistake: "A pause stops the whole agent.",
    fix: "Keep the state of each activation by its activationId.",
    event: "agent.paused",
    needs: ["state-paused", "state-own-key"],
    perform: async (stage) => {
      const second = given(stage.second);
      if (!stage.answersMessages) return NO_REASON;
      const from = currentTime();
      return (await stage.nudge(second)) ? null : `${describeRefusals(stage, second, from)} for the other activation`;
    },
  },
  {
    id: "state-resumed",
    title: "goes on with the old key when it is resumed",
    mistake: "The key was deleted at the pause, or agent.resumed is expected to bring another one.",
    fix: "Keep the key while paused; after agent.resumed the same key works again.",
    event: "agent.resumed",
    needs: ["state-own-key", "state-paused"],
    perform: async (stage) => {
      const first = given(stage.first);
      const from = currentTime();
      await first.brand.activations.resume(first.id);
      const refused = await stage.delivered("agent.resumed", first.id);
      if (refused) return refused;
      const call = stage.callsOf(first, from).find(({ status }) => status < 300) ?? (await stage.nudge(first));
      if (call) return call.key === first.key ? null : "it called with another key";
      return stage.answersMessages === false ? NO_REASON : `${describeRefusals(stage, first, from)} after agent.resumed`;
    },
  },
  {
    id: "state-deactivated",
    title: "stops calling when it is turned off",
    mistake: "agent.deactivated is acknowledged and ignored.",
    fix: "Delete the key and end the work of this activation. Its key never works again.",
    event: "agent.deactivated",
    needs: ["state-own-key"],
    perform: async (stage) => {
      const second = given(stage.second);
      const works = await stage.worksByItself(second);
      await second.brand.activations.deactivate(second.id);
      const problem =
        (await stage.delivered("agent.deactivated", second.id)) ?? (await stage.quiet(({ activationId }) => activationId === second.id));
      return problem ?? (works ? null : NOTHING_TO_STOP);
    },
  },
  {
    id: "state-activated-again",
    title: "uses the new key when the same brand turns it on again",
    mistake: "The key is stored by brand or listing, and the old one is kept.",
    fix: "Store keys by activationId: a new activation has a new id and a new key.",
    event: "agent.activated",
    needs: ["state-deactivated"],
    perform: async (stage) => {
      const before = given(stage.second);
      const again = await stage.activate(before.brand);
      const refused = await stage.delivered("agent.activated", again.id);
      if (refused) return refused;
      const call = (await stage.expectCall(again, 0)) ?? (await stage.nudge(again));
      if (call === null) return `${describeRefusals(stage, again)} for the new activation`;
      stage.second = { ...again, key: call.key };
      return null;
    },
  },
  {
    id: "state-heartbeat",
    title: "sends heartbeats for a run at work",
    mistake: "The run is started and worked on, but nothing is logged meanwhile.",
    fix: "Call runs/log each minute while you work, with or without entries. The service fails a run that was silent for 15 minutes.",
    event: "agent.activated",
    needs: ["state-own-key", "state-resumed"],
    perform: async (stage) => {
      const from = currentTime();
      for (;;) {
        const run = await findRunAtWork(stage);
        if (run === null)
          return { skipped: "No run of the agent was at work for long. Let one work for some minutes to have this graded." };
        const signs = stage.market.calls.filter(({ runId, path }) => runId === run && /\/runs\/(?:start|log)$/.test(path));
        const last = signs.at(-1)?.at ?? from;
        if (last > from) return null;
        if (currentTime() - last > stage.limits.heartbeatMs)
          return `the run ${run} is at work and sent no heartbeat for ${Math.round((currentTime() - last) / 1000)} s`;
        await stage.sleep(POLL_MS);
      }
    },
  },
  {
    id: "state-restart",
    title: "still has the key after kill -9 and a restart",
    mistake: "The key is in memory only, or is written some time after the answer. It is shown once.",
    fix: "Write the key to a database or file before you answer agent.activated, and read it when you start.",
    event: "agent.activated",
    needs: ["state-own-key", "state-resumed"],
    perform: async (stage) => {
      const first = given(stage.first);
      await stage.killAgent();
      const from = currentTime();
      await stage.startAgent();
      const call = (await stage.nudge(first)) ?? stage.callsOf(first, from).find(({ status }) => status < 300) ?? null;
      if (call === null) return stage.answersMessages === false ? NO_REASON : `${describeRefusals(stage, first, from)} after the restart`;
      await stage.rest();
      return call.key === first.key ? null : "it called with another key";
    },
  },
  {
    id: "state-paused-restart",
    title: "is still paused after kill -9 and a restart",
    mistake: "The pause is in memory only.",
    fix: "Store the state next to the key, and read both when you start.",
    event: "agent.paused",
    needs: ["state-restart"],
    perform: async (stage) => {
      const first = given(stage.first);
      const works = await stage.worksByItself(first);
      await first.brand.activations.pause(first.id);
      const refused = await stage.delivered("agent.paused", first.id);
      if (refused) return refused;
      await stage.killAgent();
      await stage.startAgent();
      const found = await stage.quiet(({ activationId }) => activationId === first.id);
      await first.brand.activations.resume(first.id);
      return found ?? (await stage.delivered("agent.resumed", first.id)) ?? (works ? null : NOTHING_TO_STOP);
    },
  },
  {
    id: "state-run-failed",
    title: "stops working on a run that the service has failed",
    mistake: "run_force_failed is acknowledged and ignored: the run goes on, and its calls are refused.",
    fix: "End the work of this run and clear its state.",
    event: "run_force_failed",
    needs: ["state-restart"],
    perform: async (stage) => {
      const run = await findRunAtWork(stage);
      if (run === null) return { skipped: "No run of the agent is at work." };
      const owner = stage.market.calls.find(({ runId }) => runId === run)?.activationId ?? "";
      const intervalMs = stage.intervalOf(run);
      await stage.market.advance("16m");
      return (
        (await stage.delivered("run_force_failed", owner)) ??
        // A run that goes on is not seen before its next call.
        stage.quiet(({ runId, path }) => runId === run || path.includes(run), 1.5 * intervalMs)
      );
    },
  },
];

/** Delivers the newest message.posted three times more. Returns which effects there are more of, with their numbers. */
async function listRepeatedWork(stage: Stage, activation: StagedActivation): Promise<string[]> {
  await stage.rest();
  const before = await stage.effects(activation);
  const { slug, world } = stage.market;
  const [event] = (await world.builder.sdk.deliveries.list(slug, { type: "message.posted", activationId: activation.id })).data;
  for (let n = 0; n < 3 && event; n += 1) {
    await world.builder.sdk.deliveries.redeliver(slug, event.id);
    await stage.rest();
  }
  await stage.sleep(stage.limits.quietMs);
  const after = await stage.effects(activation);
  const more = Object.keys(after).filter((name) => (after[name] ?? 0) > (before[name] ?? 0));
  return more.map((name) => `${name} (${before[name]}, then ${after[name]})`);
}

/** The id of a run that is RUNNING: it neither ended nor waits. */
async function findRunAtWork({ first, second }: Stage): Promise<string | null> {
  for (const activation of [first, second]) {
    const runs = activation ? (await activation.brand.runs.list(activation.id)).data : [];
    const found = runs.find(({ status }) => status === "RUNNING");
    if (found) return found.runId;
  }
  return null;
}

/** What the agent did in place of a call that succeeds. */
function describeRefusals(stage: Stage, activation: StagedActivation, since = 0): string {
  const refused = stage.callsOf(activation, since).at(-1);
  return refused ? `its calls were refused, the last one with ${refused.status} (${refused.method} ${refused.path}),` : "it made no call";
}

function given(activation: StagedActivation | null): StagedActivation {
  if (activation === null) throw new Error("The case before this one has not passed.");
  return activation;
}
