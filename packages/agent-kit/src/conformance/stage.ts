import type { AgentEvent } from "../contract.generated.ts";
import { currentTime, sleep as sleepFor } from "../runtime.ts";
import type { RecordedCall, RecordingMarketplace } from "../testing/recording-marketplace.ts";
import type { Explained } from "./case.ts";
import { findGap, listBeats } from "./rhythm.ts";
import type { RunningAgent } from "./running-agent.ts";

type Brand = RecordingMarketplace["brands"][number];

/** Numbers of all that a brand sees of an agent's work. */
type Effects = Readonly<Record<string, number>>;

/** The names of what there is more of, with the numbers. */
export function listMore(before: Effects, after: Effects): string[] {
  const more = Object.keys(after).filter((name) => (after[name] ?? 0) > (before[name] ?? 0));
  return more.map((name) => `${name} (${before[name]}, then ${after[name]})`);
}

/** Time limits of the check, ms by this machine. */
interface StageLimits {
  /** Wait for an expected call. */
  readonly waitMs: number;
  /** Wait for work that a killed process had begun. */
  readonly takeOverMs: number;
  /** Without calls, where none are allowed, at least: an agent that calls less often is watched for longer. */
  readonly quietMs: number;
  /** Between two signs of life of a run. */
  readonly heartbeatMs: number;
}

/** A brand's use of the agent under test. */
export interface StagedActivation {
  readonly id: string;
  readonly brand: Brand;
  /** The key that its first successful call was made with. */
  key: string | null;
}

/** The time between two calls that an agent makes by itself, ms; `none` without such calls, `unknown` when they come too seldom. */
export type Rhythm = number | "none" | "unknown";

/** A call that should not have been made. */
export interface Noise {
  readonly problem: string;
  /** True if the agent became quiet within seconds. */
  readonly stops: boolean;
}

const POLL_MS = 50;
// A call that left before an event arrived may arrive after it.
const GRACE_MS = 500;
// An agent that calls all the time is not waited for.
const REST_MS = 2000;
// For longer, the next call of a rhythm is not waited for.
const AWAITED_MS = 10_000;
// A rhythm is watched for so long when no run is at work.
const IDLE_MS = 30_000;
const ATTEMPTS = 4;
// Begins the ids of runs that the check itself makes.
const OWN_RUN = "check-run-";

/** The fault of an agent that refuses an event, or fails at it. */
function notAcknowledged(type: string, problem: string): Explained {
  return {
    problem,
    mistake: `A signed ${type} is not acknowledged: the receiver refuses it, or throws.`,
    fix: "Answer 2xx to every event with a right signature, whatever its fields and the state of its activation. Later events wait for it.",
  };
}

/** The agent under test with the marketplace it belongs to, and what a check does with both. */
export class Stage {
  readonly market: RecordingMarketplace;
  readonly limits: StageLimits;
  /** Set by the cases as they go on. */
  first: StagedActivation | null = null;
  second: StagedActivation | null = null;
  third: StagedActivation | null = null;
  /** True if the agent calls after a message; null before that was tried. */
  answersMessages: boolean | null = null;
  /** True once the brand has seen something of what the agent does after a message. */
  messagesHaveEffect = false;
  /** True if two messages that name no run are one event to the agent, as they are by type, activation and run. */
  messagesNeedRuns = false;
  readonly #start: () => Promise<RunningAgent>;
  readonly #signal: AbortSignal | undefined;
  #agent: RunningAgent | null = null;
  /** Time of the first pause, ms since 1970; 0 before. */
  pausedAt = 0;
  /** Time of the first kill, ms since 1970; null before. */
  killedAt: number | null = null;
  /** Time of the last start, ms since 1970. */
  startedAt = 0;
  readonly #gaps = new Map<string, number>();
  #runs = 0;

  constructor(market: RecordingMarketplace, limits: StageLimits, start: () => Promise<RunningAgent>, signal: AbortSignal | undefined) {
    this.market = market;
    this.limits = limits;
    this.#start = start;
    this.#signal = signal;
  }

  /** Waits by the clock of this machine. Throws the signal's reason when the check is cancelled. */
  async sleep(ms: number): Promise<void> {
    await sleepFor(ms);
    this.#signal?.throwIfAborted();
  }

  async startAgent(): Promise<void> {
    this.startedAt = currentTime();
    this.#agent = await this.#start();
  }

  async killAgent(): Promise<void> {
    this.killedAt ??= currentTime();
    await this.#agent?.kill();
    this.#agent = null;
  }

  /**
   * Kills the agent at the moment when it acknowledges the event that `act` leads to, and starts it again: no call that it makes in
   * between arrives. Returns why it did not.
   */
  async killAt(type: AgentEvent["type"], act: () => Promise<unknown>): Promise<Explained | null> {
    const { relay } = this.market;
    let killing: Promise<void> | null = null;
    relay.atAcknowledgement(type, () => {
      this.market.shut(true);
      killing = this.killAgent().finally(() => this.market.shut(false));
      killing.catch(() => {});
    });
    await act();
    const limit = currentTime() + 2 * this.limits.waitMs;
    while (killing === null && currentTime() < limit) await this.sleep(POLL_MS);
    relay.disarm();
    if (killing === null) return notAcknowledged(type, `${type} was not acknowledged`);
    await killing;
    await this.startAgent();
    return null;
  }

  /** Turns the agent on for a brand. */
  async activate(brand: Brand): Promise<StagedActivation> {
    const { permissions } = await brand.catalog.get(this.market.slug);
    const acceptedPermissions = permissions.map(({ scope }) => scope);
    const { id } = await brand.activations.create({ agentSlug: this.market.slug, acceptedPermissions });
    return { id, brand, key: null };
  }

  /** Waits until the agent acknowledges the newest event of a type. Returns null, or why it did not. */
  async delivered(type: AgentEvent["type"], activationId: string): Promise<Explained | null> {
    const { sdk: builder } = this.market.world.builder;
    const limit = currentTime() + 2 * this.limits.waitMs;
    for (;;) {
      const events = (await builder.deliveries.list(this.market.slug, { activationId })).data;
      const event = events.find((one) => one.type === type);
      if (event?.state === "delivered") return null;
      // Events are sent in order: this one may wait for one before it.
      const tried = events.findLast(({ state, attempts }) => state !== "delivered" && attempts > 0);
      if (event && tried && (tried.attempts >= ATTEMPTS || currentTime() > limit)) {
        const why = `${tried.type} was not acknowledged after ${tried.attempts} attempts: ${tried.lastAttempt?.message ?? tried.state}`;
        return notAcknowledged(tried.type, tried.id === event.id ? why : `${type} is not sent: ${why}`);
      }
      if (currentTime() > limit) return notAcknowledged(type, `${type} was not sent in time`);
      await this.sleep(POLL_MS);
    }
  }

  /** The calls for an activation since then. */
  callsOf({ id }: StagedActivation, since: number): RecordedCall[] {
    return this.market.calls.filter(({ activationId, at }) => activationId === id && at >= since);
  }

  /** Waits for a successful call for an activation that is no heartbeat. Null when none comes. */
  async expectCall(activation: StagedActivation, since: number): Promise<RecordedCall | null> {
    const limit = currentTime() + this.limits.waitMs;
    for (;;) {
      const found = this.callsOf(activation, since).find(({ status, path }) => status < 300 && !path.endsWith("/runs/log"));
      if (found) return found;
      if (currentTime() > limit) return null;
      await this.sleep(POLL_MS);
    }
  }

  /** Posts a message, about a run of its own where the agent can tell messages apart only so. */
  async post({ brand, id }: StagedActivation, { ownRun = this.messagesNeedRuns } = {}): Promise<void> {
    this.#runs += 1;
    const runId = ownRun ? await this.market.createEndedRun(id, `${OWN_RUN}${this.#runs}`) : undefined;
    await brand.messages.create(id, { text: "Are you there?", ...(runId && { runId }) });
  }

  /** Gives the agent a reason to call, a message or the approval it waits for, and waits for its call. Null when none comes. */
  async nudge(activation: StagedActivation): Promise<RecordedCall | null> {
    const { brand, id } = activation;
    const from = currentTime();
    if (this.answersMessages !== false) {
      const before = this.answersMessages === null ? await this.effects(activation) : null;
      await this.post(activation);
      const call = await this.expectCall(activation, from);
      this.answersMessages ??= call !== null;
      if (before !== null) this.messagesHaveEffect = await this.expectEffect(activation, before);
      if (call) return call;
    }
    for (const request of (await brand.approvals.list({ activationId: id })).data) {
      const [option] = request.approval?.options ?? [];
      if (!option) continue;
      await brand.messages.answer(request.id, { decision: option.id });
      return this.expectCall(activation, from);
    }
    return null;
  }

  /** Waits until the brand sees more of the agent's work than before. Returns whether it does. */
  async expectEffect(activation: StagedActivation, before: Effects, waitMs = this.limits.waitMs): Promise<boolean> {
    const limit = currentTime() + waitMs;
    for (;;) {
      if (listMore(before, await this.effects(activation)).length > 0) return true;
      if (currentTime() > limit) return false;
      await this.sleep(2 * POLL_MS);
    }
  }

  /** Waits until the agent has made no call for a while, two seconds at most. */
  async rest(): Promise<void> {
    const limit = currentTime() + REST_MS;
    for (;;) {
      const last = this.market.calls.at(-1)?.at ?? 0;
      const now = currentTime();
      if (now - last >= GRACE_MS || now > limit) return;
      await this.sleep(POLL_MS);
    }
  }

  /**
   * Waits until the agent has been quiet for as long as is sure for its rhythm, since an instant, or until it calls nevertheless, and
   * then says which call that was, and if the agent became quiet soon after it.
   */
  async quiet(
    which: (call: RecordedCall) => boolean,
    rhythm: Rhythm,
    { since = currentTime(), graceMs = GRACE_MS }: { since?: number; graceMs?: number } = {},
  ): Promise<Noise | null> {
    const from = since + graceMs;
    const watched = Math.max(this.limits.quietMs, typeof rhythm === "number" ? 1.5 * rhythm : 0);
    const soon = from + 2 * this.limits.quietMs;
    for (;;) {
      const heard = this.market.calls.filter((made) => made.at >= from && which(made));
      const [call] = heard;
      const last = heard.at(-1)?.at ?? from;
      const isQuiet = currentTime() - last >= watched;
      if (call === undefined && isQuiet) return null;
      if (call !== undefined && (isQuiet || last > soon))
        return { problem: `it called ${call.method} ${call.path}, which was answered ${call.status}`, stops: last <= soon };
      await this.sleep(POLL_MS);
    }
  }

  /**
   * Finds out how often the agent calls for an activation without being asked to, and waits until it has done so since it was started. It
   * ends right after a call, so that the next one is not due within the grace of an event that is to stop it.
   */
  async rhythm(activation: StagedActivation): Promise<Rhythm> {
    const gap = await this.#findRhythm(activation);
    if (typeof gap !== "number" || gap > AWAITED_MS) return gap;
    const from = currentTime();
    while (this.callsOf(activation, from).length === 0 && currentTime() - from < 2 * gap) await this.sleep(POLL_MS / 5);
    return gap;
  }

  async #findRhythm(activation: StagedActivation): Promise<Rhythm> {
    await this.rest();
    const runs = (await activation.brand.runs.list(activation.id)).data;
    const atWork = runs.filter(({ status }) => status === "RUNNING").map(({ runId }) => runId);
    const from = currentTime();
    for (;;) {
      const beats = listBeats(this.market, activation.id, atWork).filter((at) => at > this.startedAt);
      const known = this.#gaps.get(activation.id) ?? null;
      const gap = findGap(beats) ?? (beats.length > 0 ? known : null);
      // Two gaps, unless one has taken long enough.
      if (gap !== null && (beats.length > 2 || known !== null || gap > this.limits.quietMs)) return this.#remember(activation, gap);
      const patience = atWork.length > 0 ? this.limits.heartbeatMs : beats.length > 0 ? Math.min(IDLE_MS, this.limits.heartbeatMs) : 0;
      if (currentTime() - from >= Math.max(patience, this.limits.quietMs)) {
        if (gap !== null) return this.#remember(activation, gap);
        return atWork.length > 0 || beats.length > 0 ? "unknown" : "none";
      }
      await this.sleep(POLL_MS);
    }
  }

  #remember({ id }: StagedActivation, gap: number): number {
    const ms = Math.min(gap, this.limits.heartbeatMs);
    this.#gaps.set(id, ms);
    return ms;
  }

  /** Counts the agent's work as its brand sees it. */
  async effects({ brand, id }: StagedActivation): Promise<Effects> {
    const messages = await brand.messages.list(id).toArray();
    const runs = await brand.runs.list(id).toArray();
    return {
      messages: messages.filter(({ direction }) => direction === "outbound").length,
      runs: runs.filter(({ runId }) => !runId.startsWith(OWN_RUN)).length,
      "landing pages": (await brand.landingPages.list().toArray()).length,
      "credits spent": 1000 - (await brand.credits.get()).balance,
    };
  }
}
