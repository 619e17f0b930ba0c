import { currentTime } from "../runtime.ts";
import type { Advice } from "./case.ts";
import { listMore, type Stage } from "./stage.ts";
import {
  describeNoise,
  describeRefusals,
  type Finding,
  given,
  listRepeatedWork,
  listRunsAtWork,
  NO_REASON,
  type StateCase,
  watchQuietStart,
} from "./state-case.ts";

const STAYS_PAUSED: Advice = {
  mistake: "The end of a pause is in memory only, or is written some time after the answer: after a restart the agent stays paused.",
  fix: "Store the state next to the key before you answer agent.resumed, and read both when you start.",
};

const WORKS_AGAIN: Advice = {
  mistake: "Events that were worked on before a restart are worked on again after it.",
  fix: "Store that the work on an event is done, and begin at a start only what is not. Give each thing you make an id of its own.",
};

/**
 * Cases of an agent that is killed, in their order, after those of its life. An acknowledgement promises that its effect is durable at
 * that moment, so the agent is killed right then. The last ones move the clock of the service.
 */
export const RESTART_CASES: readonly StateCase[] = [
  {
    id: "state-restart",
    title: "still has the key after kill -9 and a restart",
    mistake: "The key is in memory only.",
    fix: "Write the key to a database or file before you answer agent.activated, and read it when you start. It is shown once.",
    event: "agent.activated",
    needs: ["state-own-key", "state-resumed", "state-paused-others", "state-deactivated-others"],
    perform: async (stage) => {
      const first = given(stage.first);
      await stage.killAgent();
      const from = currentTime();
      await stage.startAgent();
      const call = (await stage.nudge(first)) ?? stage.callsOf(first, from).find(({ status }) => status < 300) ?? null;
      if (call === null) {
        if (stage.answersMessages === false) return NO_REASON;
        const problem = `${describeRefusals(stage, first, from)} after the restart`;
        // The other activation was never paused.
        const isPaused = stage.callsOf(first, from).length === 0 && stage.second !== null && (await stage.nudge(stage.second)) !== null;
        return isPaused ? { ...STAYS_PAUSED, problem } : problem;
      }
      await stage.rest();
      return call.key === first.key ? null : "it called with another key";
    },
  },
  {
    id: "state-activated-restart",
    title: "has the key when it is killed as it acknowledges agent.activated",
    mistake: "The key is written some time after the answer: a crash in between loses it for ever.",
    fix: "Write the key, durably, before you answer agent.activated. It is shown once.",
    event: "agent.activated",
    needs: ["state-restart"],
    perform: async (stage) => {
      const [, , brand] = stage.market.brands;
      const from = currentTime();
      const refused = await stage.killAt("agent.activated", async () => {
        stage.third = await stage.activate(brand);
      });
      const third = given(stage.third);
      const notConfirmed = refused ?? (await stage.delivered("agent.activated", third.id));
      if (notConfirmed) return notConfirmed;
      const call = stage.callsOf(third, from).find(({ status }) => status < 300) ?? (await stage.nudge(third));
      third.key = call?.key ?? null;
      if (call) return null;
      return stage.answersMessages === false ? NO_REASON : `${describeRefusals(stage, third, from)} after a kill at the acknowledgement`;
    },
  },
  {
    id: "state-message-restart",
    title: "does what it has acknowledged when it is killed right then",
    mistake: "An event is acknowledged before it is stored: what was to be done is lost with the process.",
    fix: "Store the event, durably, before you answer, and work on what is left when you start.",
    event: "message.posted",
    needs: ["state-restart", "state-repeated"],
    perform: async (stage) => {
      const first = given(stage.first);
      if (!stage.messagesHaveEffect)
        return { skipped: "The brand sees nothing of what the agent does after a message, so it cannot be counted." };
      await stage.rest();
      const before = await stage.effects(first);
      const refused = await stage.killAt("message.posted", () => stage.post(first));
      if (refused) return refused;
      const isDone = await stage.expectEffect(first, before, stage.limits.takeOverMs);
      return isDone ? null : "a message that was acknowledged before a kill led to nothing after the restart";
    },
  },
  {
    id: "state-repeated-restart",
    title: "does the work of a repeated event once, also after a restart",
    mistake: "The ids of events are remembered in memory only: after a restart a repeat is worked on again.",
    fix: "Store the ids of events with what they led to, and read them when you start.",
    event: "message.posted",
    needs: ["state-message-restart"],
    perform: async (stage) => {
      const first = given(stage.first);
      if (!stage.answersMessages) return { skipped: "The agent makes no call after a message, so its work cannot be counted." };
      const judge = async (): Promise<Finding> => {
        await stage.rest();
        const before = await stage.effects(first);
        await stage.killAgent();
        await stage.startAgent();
        await stage.sleep(stage.limits.quietMs);
        await stage.rest();
        const again = listMore(before, await stage.effects(first));
        // So many that the service took no more.
        if (stage.callsOf(first, stage.startedAt).some(({ status }) => status === 429)) again.push("calls than are allowed");
        if (again.length > 0) return { ...WORKS_AGAIN, problem: `a restart alone led to more ${again.join(", ")}` };
        const more = await listRepeatedWork(stage, first);
        return more.length === 0 ? null : `three repeats of one message.posted after a restart led to more ${more.join(", ")}`;
      };
      // Another restart, since what was slow the first time is done by now.
      return (await judge()) && judge();
    },
  },
  {
    id: "state-paused-restart",
    title: "is still paused when it is killed as it acknowledges agent.paused",
    mistake: "The pause is in memory only, or is written some time after the answer.",
    fix: "Store the state next to the key before you answer, and read both when you start.",
    event: "agent.paused",
    needs: ["state-activated-restart"],
    perform: async (stage) => {
      const third = given(stage.third);
      const rhythm = await stage.rhythm(third);
      const refused = await stage.killAt("agent.paused", () => third.brand.activations.pause(third.id));
      return refused ?? watchQuietStart(stage, third, rhythm, stage.startedAt);
    },
  },
  {
    id: "state-resumed-restart",
    title: "works again when it is killed as it acknowledges agent.resumed",
    ...STAYS_PAUSED,
    event: "agent.resumed",
    needs: ["state-activated-restart"],
    perform: async (stage) => {
      const third = given(stage.third);
      if ((await third.brand.activations.get(third.id)).status === "active") {
        await third.brand.activations.pause(third.id);
        await stage.delivered("agent.paused", third.id);
      }
      const from = currentTime();
      const refused = await stage.killAt("agent.resumed", () => third.brand.activations.resume(third.id));
      if (refused) return refused;
      if (stage.callsOf(third, from).some(({ status }) => status < 300) || (await stage.nudge(third))) return null;
      return stage.answersMessages === false ? NO_REASON : `${describeRefusals(stage, third, from)} after a kill at the acknowledgement`;
    },
  },
  {
    id: "state-deactivated-restart",
    title: "stays off when it is killed as it acknowledges agent.deactivated",
    mistake: "The end of an activation is in memory only, or is written some time after the answer: after a restart the agent works on.",
    fix: "Delete the key and end the work before you answer agent.deactivated.",
    event: "agent.deactivated",
    needs: ["state-activated-restart", "state-deactivated", "state-resumed-restart"],
    perform: async (stage) => {
      const third = given(stage.third);
      const rhythm = await stage.rhythm(third);
      const refused = await stage.killAt("agent.deactivated", () => third.brand.activations.deactivate(third.id));
      const { startedAt } = stage;
      return refused ?? { later: () => watchQuietStart(stage, third, rhythm, startedAt) };
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
      const [run] = await listRunsAtWork(stage);
      if (run === undefined) return { skipped: "No run of the agent is at work." };
      const { owner, rhythm } = await failRun(stage, run);
      const refused = await stage.delivered("run_force_failed", owner);
      const noise = refused === null ? await stage.quiet(isOf(run), rhythm) : null;
      return noise ? describeNoise(noise) : refused;
    },
  },
  {
    id: "state-run-failed-restart",
    title: "forgets a failed run when it is killed as it acknowledges run_force_failed",
    mistake: "The end of a failed run is in memory only, or is written some time after the answer: after a restart the run goes on.",
    fix: "Clear the stored state of the run before you answer run_force_failed.",
    event: "run_force_failed",
    needs: ["state-run-failed", "state-activated-restart"],
    perform: async (stage) => {
      const [, , brand] = stage.market.brands;
      const [old] = (await brand.activations.list({ status: "active" })).data;
      if (old) await brand.activations.deactivate(old.id);
      const activation = await stage.activate(brand);
      stage.third = activation;
      await stage.delivered("agent.activated", activation.id);
      await stage.rhythm(activation);
      const [found] = (await brand.runs.list(activation.id)).data.filter(({ status }) => status === "RUNNING");
      if (!found) return { skipped: "No run of the agent is at work." };
      let rhythm = 0;
      const refused = await stage.killAt("run_force_failed", async () => {
        ({ rhythm } = await failRun(stage, found.runId));
      });
      // It may ask the service what became of the run.
      return refused ?? (await stage.quiet(isOf(found.runId), rhythm))?.problem ?? null;
    },
  },
];

const isOf =
  (run: string) =>
  ({ runId, path }: { runId: string | null; path: string }): boolean =>
    runId === run || path.includes(run);

/** Lets time pass until the service fails a run. Returns whose it is, and how often it was called for, ms. */
async function failRun(stage: Stage, run: string): Promise<{ owner: string; rhythm: number }> {
  const calls = stage.market.calls.filter(({ runId }) => runId === run);
  const owner = calls[0]?.activationId ?? "";
  // The gaps of the last calls: a pause before them is none.
  const gaps = calls.slice(1).map(({ at }, i) => at - (calls[i]?.at ?? at));
  const rhythm = Math.min(Math.max(0, ...gaps.slice(-5)), stage.limits.heartbeatMs);
  await stage.market.advance("16m");
  return { owner, rhythm };
}
