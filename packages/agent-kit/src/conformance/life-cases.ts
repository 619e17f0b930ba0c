import { currentTime } from "../runtime.ts";
import type { RecordedCall } from "../testing/recording-marketplace.ts";
import type { Advice } from "./case.ts";
import type { Rhythm, Stage, StagedActivation } from "./stage.ts";
import {
  describeRefusals,
  type Finding,
  given,
  listRepeatedWork,
  listRunsAtWork,
  NO_REASON,
  type StateCase,
  watchQuiet,
} from "./state-case.ts";

const REFUSED: Advice = {
  mistake: "A call that the service refuses is not looked at: the agent asks for the same once more, or for something it may not do.",
  fix: "Read the error of a refused call: its message and hint say what is wrong. Give each thing you make an id of its own.",
};
const ONLY_FIRST: Advice = {
  mistake: "Only the first activation is worked for: the agent.activated of another brand is taken for a repeat, or its key is not stored.",
  fix: "Recognise repeats by id. Keep a key for each activationId, and use that of the event you are handling.",
};
const ONLY_LAST: Advice = {
  mistake: "Only the last activation is kept: a new one replaces the one before it.",
  fix: "Keep a key for each activationId, and use that of the event you are handling.",
};
const IGNORED_OR_FORGOTTEN: Advice = {
  mistake: "agent.deactivated is acknowledged and ignored, or the end is in memory only.",
  fix: "Delete the key and end the work of this activation, durably, before you answer. Its key never works again.",
};
const INTERRUPTED: Advice = {
  mistake: "Work that a pause interrupts is not taken up again: its run stays at work, and nobody works on it.",
  fix: "Keep what you cannot do while paused, and go on with it after agent.resumed.",
};
const SOME_RUNS: Advice = {
  mistake: "Only some runs at work get heartbeats: that of another activation stays silent.",
  fix: "Call runs/log each minute for every run you work on, with the key of its activation.",
};
const POLL_MS = 50;
// A call that left before an event arrived may arrive after it.
const GRACE_MS = 500;

/** The cases of an agent that is not interrupted, in their order: each goes on where the one before it ended. */
export const LIFE_CASES: readonly StateCase[] = [
  {
    id: "state-activated",
    title: "acknowledges the agent.activated of a real activation",
    mistake: "The handler of agent.activated throws, takes longer than 8 seconds, or the secret is another one.",
    fix: "Verify with AGENT_WEBHOOK_SECRET, store the key, answer 2xx, and work afterwards.",
    event: "agent.activated",
    needs: [],
    perform: async (stage) => {
      stage.first = await stage.activate(stage.market.brands[0]);
      return (await stage.delivered("agent.activated", stage.first.id))?.problem ?? null;
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
    id: "state-different",
    title: "takes two different events for two",
    mistake: "Different events are taken for one: repeats are recognised by type, or by type and activation, alone.",
    fix: "Remember ids. The tuple of type, activationId and runId is enough only for what happens once per activation or run.",
    event: "message.posted",
    needs: ["state-key-used"],
    perform: async (stage) => {
      const first = given(stage.first);
      if (!stage.messagesHaveEffect)
        return { skipped: "The brand sees nothing of what the agent does after a message, so it cannot be counted." };
      const from = currentTime();
      const isAnswered = async (ownRun: boolean): Promise<boolean> => {
        await stage.rest();
        const before = await stage.effects(first);
        await stage.post(first, { ownRun });
        return stage.expectEffect(first, before);
      };
      if (await isAnswered(false)) return null;
      const refused = stage.callsOf(first, from).some(({ status }) => status >= 400);
      if (refused) return { ...REFUSED, problem: `${describeRefusals(stage, first, from)} after a second message` };
      stage.messagesNeedRuns = (await isAnswered(true)) && (await isAnswered(true));
      return stage.messagesNeedRuns ? null : "it answered one message, and neither the next one nor one about another run";
    },
  },
  {
    id: "state-own-key",
    title: "keeps the keys of two activations apart",
    mistake: "One variable holds the key, or the id, of the last activation.",
    fix: "Keep a key for each activationId, and use that of the event you are handling.",
    event: "agent.activated",
    needs: ["state-key-used", "state-different"],
    perform: async (stage) => {
      const first = given(stage.first);
      const second = await stage.activate(stage.market.brands[1]);
      stage.second = second;
      const refused = await stage.delivered("agent.activated", second.id);
      if (refused) return refused;
      const call = (await stage.expectCall(second, 0)) ?? (await stage.nudge(second));
      const from = currentTime();
      const goesOn = stage.answersMessages !== true || (await stage.nudge(first)) !== null;
      if (call === null) {
        const silent = stage.callsOf(second, 0).length === 0;
        const problem = `${describeRefusals(stage, second)} for the second activation`;
        return silent && goesOn ? { ...ONLY_FIRST, problem } : problem;
      }
      second.key = call.key;
      await stage.rest();
      if (!goesOn) {
        const silent = stage.callsOf(first, from).length === 0;
        const problem = `${describeRefusals(stage, first, from)} for the first activation once there was a second one`;
        const forOther = stage.callsOf(second, from).some(({ path }) => !path.endsWith("/runs/log"));
        return silent && !forOther && listMixed(stage).length === 0 ? { ...ONLY_LAST, problem } : problem;
      }
      const [mixed] = listMixed(stage);
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
      const rhythm = await stage.rhythm(first);
      stage.pausedAt = currentTime();
      await first.brand.activations.pause(first.id);
      return (await stage.delivered("agent.paused", first.id)) ?? watchQuiet(stage, first, rhythm);
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
    mistake: "agent.resumed is acknowledged and ignored, or the key was deleted at the pause: the agent does not go on.",
    fix: "Keep the key while paused, and store that the pause has ended; after agent.resumed the same key works again.",
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
      const rhythm = await stage.rhythm(second);
      await second.brand.activations.deactivate(second.id);
      const refused = await stage.delivered("agent.deactivated", second.id);
      if (refused) return refused;
      const since = currentTime();
      const isOwn = ({ activationId }: RecordedCall): boolean => activationId === second.id;
      // The other cases go on while one that calls seldom is watched.
      if ((await stage.quiet(isOwn, "none", { since })) !== null) return watchQuiet(stage, second, rhythm, since);
      return { later: () => judgeEnd(stage, second, rhythm, since) };
    },
  },
  {
    id: "state-deactivated-others",
    title: "goes on for other brands when one has turned it off",
    mistake: "The end of one activation stops the whole agent.",
    fix: "Keep the state of each activation by its activationId.",
    event: "agent.deactivated",
    needs: ["state-deactivated", "state-resumed"],
    perform: async (stage) => {
      const first = given(stage.first);
      if (!stage.answersMessages) return NO_REASON;
      const from = currentTime();
      return (await stage.nudge(first)) ? null : `${describeRefusals(stage, first, from)} for the other activation`;
    },
  },
  {
    id: "state-activated-again",
    title: "uses the new key when the same brand turns it on again",
    mistake: "The key is stored by brand or listing, and the old one is kept.",
    fix: "Store keys by activationId: a new activation has a new id and a new key.",
    event: "agent.activated",
    needs: ["state-deactivated", "state-deactivated-others"],
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
    needs: ["state-own-key", "state-repeated", "state-resumed", "state-paused-others", "state-deactivated-others"],
    perform: async (stage) => {
      const from = currentTime();
      const alive = new Set<string>();
      for (;;) {
        const [run, ...others] = (await listRunsAtWork(stage)).filter((one) => !alive.has(one));
        if (run === undefined)
          return alive.size > 0
            ? null
            : { skipped: "No run of the agent was at work for long. Let one work for some minutes to have this graded." };
        for (const one of [run, ...others]) {
          const signs = stage.market.calls.filter(({ runId, path }) => runId === one && /\/runs\/(?:start|log)$/.test(path));
          const last = signs.at(-1)?.at ?? from;
          if (last > from) alive.add(one);
          else if (currentTime() - last > stage.limits.heartbeatMs) {
            const problem = `the run ${one} is at work and sent no heartbeat for ${Math.round((currentTime() - last) / 1000)} s`;
            if (signs.length > 2 && last < stage.pausedAt + GRACE_MS) return { ...INTERRUPTED, problem };
            return alive.size > 0 ? { ...SOME_RUNS, problem } : problem;
          }
        }
        await stage.sleep(POLL_MS);
      }
    },
  },
];

/** Judges an agent that was watched since its activation ended, and was killed meanwhile. */
async function judgeEnd(stage: Stage, activation: StagedActivation, rhythm: Rhythm, since: number): Promise<Finding> {
  const found = await watchQuiet(stage, activation, rhythm, since);
  const { killedAt } = stage;
  const problem = typeof found === "string" ? found : found && "problem" in found ? found.problem : null;
  if (problem === null || killedAt === null) return found;
  if (stage.callsOf(activation, since + GRACE_MS).some(({ at }) => at < killedAt)) return found;
  // It was quiet until then: another case tells what a restart does.
  if (typeof rhythm === "number" && killedAt - since > 1.5 * rhythm) return null;
  return { ...IGNORED_OR_FORGOTTEN, problem };
}

/** Calls for one activation that were made with the key of another one. */
function listMixed({ market: { calls, relay } }: Stage) {
  const owners = new Map([...relay.keys].map(([id, key]) => [key, id]));
  return calls.filter(({ activationId, key }) => activationId !== null && owners.has(key) && owners.get(key) !== activationId);
}
