import type { AgentEvent } from "../contract.generated.ts";
import { currentTime, sleep as sleepFor } from "../runtime.ts";
import type { RecordedCall, RecordingMarketplace } from "../testing/recording-marketplace.ts";
import type { RunningAgent } from "./running-agent.ts";

type Brand = RecordingMarketplace["brands"][number];

/** How long the check waits, ms by this machine. */
interface StageLimits {
  /** For a call that is expected. */
  readonly waitMs: number;
  /** Without calls, where none are allowed. */
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

const POLL_MS = 50;
// A call that left before an event arrived may arrive after it.
const GRACE_MS = 500;
// An agent that calls all the time is not waited for.
const REST_MS = 2000;
const ATTEMPTS = 4;

/** The agent under test with the marketplace it belongs to, and what a check does with both. */
export class Stage {
  readonly market: RecordingMarketplace;
  readonly limits: StageLimits;
  /** Set by the cases as they go on. */
  first: StagedActivation | null = null;
  second: StagedActivation | null = null;
  /** Whether the agent calls after a message; null before it was tried. */
  answersMessages: boolean | null = null;
  readonly #start: () => Promise<RunningAgent>;
  readonly #signal: AbortSignal | undefined;
  #agent: RunningAgent | null = null;

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
    this.#agent = await this.#start();
  }

  async killAgent(): Promise<void> {
    await this.#agent?.kill();
    this.#agent = null;
  }

  /** Turns the agent on for a brand. */
  async activate(brand: Brand): Promise<StagedActivation> {
    const { permissions } = await brand.catalog.get(this.market.slug);
    const acceptedPermissions = permissions.map(({ scope }) => scope);
    const { id } = await brand.activations.create({ agentSlug: this.market.slug, acceptedPermissions });
    return { id, brand, key: null };
  }

  /** Waits until the agent acknowledges the newest event of a type. Returns null, or the reason why it did not. */
  async delivered(type: AgentEvent["type"], activationId: string): Promise<string | null> {
    const { sdk: builder } = this.market.world.builder;
    const limit = currentTime() + 2 * this.limits.waitMs;
    for (;;) {
      const [event] = (await builder.deliveries.list(this.market.slug, { type, activationId })).data;
      if (event?.state === "delivered") return null;
      if (event && (event.attempts >= ATTEMPTS || currentTime() > limit))
        return `${type} was not acknowledged after ${event.attempts} attempts: ${event.lastAttempt?.message ?? event.state}`;
      if (currentTime() > limit) return `${type} was never sent`;
      await this.sleep(POLL_MS);
    }
  }

  /** The calls for an activation since then. */
  callsOf({ id }: StagedActivation, since: number): RecordedCall[] {
    return this.market.calls.filter(({ activationId, at }) => activationId === id && at >= since);
  }

  /** Waits for a successful call for an activation. Null when none comes. */
  async expectCall(activation: StagedActivation, since: number): Promise<RecordedCall | null> {
    const limit = currentTime() + this.limits.waitMs;
    for (;;) {
      const found = this.callsOf(activation, since).find(({ status }) => status < 300);
      if (found) return found;
      if (currentTime() > limit) return null;
      await this.sleep(POLL_MS);
    }
  }

  /** Gives the agent a reason to call, a message or the approval it waits for, and waits for its call. Null when none comes. */
  async nudge(activation: StagedActivation): Promise<RecordedCall | null> {
    const { brand, id } = activation;
    const from = currentTime();
    if (this.answersMessages !== false) {
      await brand.messages.create(id, { text: "Are you there?" });
      const call = await this.expectCall(activation, from);
      this.answersMessages ??= call !== null;
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

  /** Waits as long as the agent must be quiet, or until it calls nevertheless, and then says which call that was. */
  async quiet(which: (call: RecordedCall) => boolean, atLeastMs = 0): Promise<string | null> {
    await this.sleep(GRACE_MS);
    const from = currentTime();
    const quietMs = Math.max(this.limits.quietMs, atLeastMs);
    for (;;) {
      const call = this.market.calls.find((made) => made.at >= from && which(made));
      if (call) return `it called ${call.method} ${call.path}, which was answered ${call.status}`;
      if (currentTime() - from >= quietMs) return null;
      await this.sleep(POLL_MS);
    }
  }

  /** Whether the agent has a run at work for an activation, or calls without being asked to. */
  async worksByItself(activation: StagedActivation): Promise<boolean> {
    const runs = (await activation.brand.runs.list(activation.id)).data;
    if (runs.some(({ status }) => status === "RUNNING")) return true;
    await this.rest();
    const from = currentTime();
    await this.sleep(this.limits.quietMs);
    return this.callsOf(activation, from).length > 0;
  }

  /** The longest time between two of the last calls of a run, ms; at most as long as a run may be silent. */
  intervalOf(run: string): number {
    const times = this.market.calls.filter(({ runId }) => runId === run).map(({ at }) => at);
    const gaps = times.slice(1).map((at, i) => at - (times[i] ?? at));
    return Math.min(Math.max(0, ...gaps.slice(-5)), this.limits.heartbeatMs);
  }

  /** What the brand sees of the agent's work, as numbers. */
  async effects({ brand, id }: StagedActivation): Promise<Record<string, number>> {
    const messages = await brand.messages.list(id).toArray();
    return {
      messages: messages.filter(({ direction }) => direction === "outbound").length,
      runs: (await brand.runs.list(id).toArray()).length,
      "landing pages": (await brand.landingPages.list().toArray()).length,
      "credits spent": 1000 - (await brand.credits.get()).balance,
    };
  }
}
