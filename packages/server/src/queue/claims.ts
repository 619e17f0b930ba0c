import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { RecentCount } from "../lib/rate.ts";
import type { LaneLimits, WorkerStore } from "./job-store.ts";
import type { Lane, LaneJob } from "./queue.ts";

// Jobs claimed for free slots in one statement. More would only lengthen the turn of the event loop.
const MAX_CLAIM = 32;
const MAX_BATCH_CLAIM = 256;
// Jobs that make bulk mail and run at the same time.
const MAX_BACKGROUND = 4;
// While requests wait: mails handed over together (64 took a tenth of the processor from the requests), and bulk mails, which share more.
const OVERLOADED_MAILS = 16;
const OVERLOADED_BULK = 64;

/** Free capacity for jobs. */
export interface Demand {
  /** Free slots of single jobs. */
  readonly slots: number;
  /** Free slots of a lane in the batch handlers; null when there is no batch handler, and single ones run all lanes. */
  readonly batchSlots: ((lane: Lane) => number) | null;
  /** True while bulk mail may be due. */
  readonly isBulkDue: boolean;
  /** True while requests are waiting. */
  readonly overloaded: boolean;
}

interface ClaimsOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Called when nothing more is due in a lane. */
  readonly drained: (lane: Lane) => void;
}

type ClaimStore = Pick<WorkerStore, "claim" | "setAside" | "maxClaimAhead" | "lanes">;

/**
 * Claims jobs for this process: as many as may begin now, and in the lane `default` as many ahead as began a moment ago, up to
 * `store.maxClaimAhead`. One statement can thus claim many short jobs, and no process holds work that another one could do. It
 * remembers lanes without further due jobs, and asks again only after `refill` says that this may have changed.
 */
export class Claims {
  readonly #store: ClaimStore;
  readonly #log: Log;
  readonly #whenDrained: (lane: Lane) => void;
  readonly #now: () => number;
  readonly #begun: RecentCount;
  /** Lanes in which nothing was due at the last look, with its instant. */
  readonly #drained = new Map<Lane, number>();
  /** Counts the calls of `refill`. */
  #refills = 0;
  #ahead: LaneJob[] = [];
  #kinds: ReadonlySet<string> = new Set();

  constructor(store: ClaimStore, { clock, log, drained }: ClaimsOptions) {
    this.#store = store;
    this.#log = log;
    this.#whenDrained = drained;
    this.#now = clock.now;
    this.#begun = new RecentCount(clock.real.now);
  }

  /** Sets the kinds of jobs that this build knows. Others are put back as unhandled when they are claimed. */
  use(kinds: readonly string[]): void {
    this.#kinds = new Set(kinds);
  }

  /** Jobs of the lane `default` that are claimed and wait for a slot. */
  get ahead(): readonly LaneJob[] {
    return this.#ahead;
  }

  /** Takes up to `most` of the jobs that wait for a slot. */
  takeAhead(most = this.#ahead.length): LaneJob[] {
    const jobs = this.#ahead.splice(0, Math.max(0, most));
    this.#begun.add(jobs.length);
    return jobs;
  }

  /** Jobs of these lanes may have been added, or may have become due. */
  refill(lanes: Iterable<Lane> = this.#store.lanes): void {
    this.#refills += 1;
    for (const lane of lanes) this.#drained.delete(lane);
  }

  /**
   * The instant (ms) up to which no drained lane has a job that is due. A claim takes time, so it may lie in the past, and what fell due
   * since then is claimed by nobody until the next look.
   */
  get lookedUntil(): number {
    return Math.min(this.#now(), ...this.#drained.values());
  }

  /** True if nothing was due in a lane at the last look. */
  isDrained(lane: Lane): boolean {
    return this.#drained.has(lane);
  }

  /** True when there is room for jobs of a lane in which some may be due. */
  isWorthwhile(demand: Demand): boolean {
    return this.#store.lanes.some((lane) => this.#wanted(lane, demand) > 0);
  }

  /** Number of jobs of the lane `mail` that batch handlers have slots for, if none is waiting before them. */
  roomForMail({ batchSlots, overloaded }: Demand): number {
    if (overloaded || batchSlots === null || !this.#drained.has("mail")) return 0;
    return clamp(batchSlots("mail"), MAX_BATCH_CLAIM);
  }

  /** Claims jobs. Jobs of the lane `default` wait in `ahead`, and the others are returned. */
  async claim(demand: Demand): Promise<readonly LaneJob[]> {
    const limits: LaneLimits = Object.fromEntries(
      this.#store.lanes.map((lane) => {
        const wanted = this.#wanted(lane, demand);
        return [lane, lane === "default" ? this.#addAhead(wanted, demand.overloaded) : wanted];
      }),
    );
    const [refills, now] = [this.#refills, this.#now()];
    const { jobs, drained } = await this.#store.claim(now, limits);
    if (this.#refills === refills)
      for (const lane of drained) {
        this.#drained.set(lane, now);
        this.#whenDrained(lane);
      }
    const known = await this.#setUnknownAside(jobs);
    this.#ahead.push(...known.filter(({ lane }) => lane === "default"));
    return known.filter(({ lane }) => lane !== "default");
  }

  async #setUnknownAside(jobs: readonly LaneJob[]): Promise<readonly LaneJob[]> {
    const unknown = jobs.filter(({ kind }) => !this.#kinds.has(kind));
    if (unknown.length === 0) return jobs;
    const kinds = [...new Set(unknown.map(({ kind }) => kind))];
    this.#log.warn("jobs of unknown kinds wait for a version that knows them", { jobs: unknown.length, kinds });
    await this.#store.setAside(unknown);
    return jobs.filter(({ kind }) => this.#kinds.has(kind));
  }

  #addAhead(wanted: number, overloaded: boolean): number {
    if (wanted === 0 || overloaded) return wanted;
    return wanted + Math.min(this.#begun.value, this.#store.maxClaimAhead);
  }

  /** Jobs of a lane for which there is a slot, as far as one claim takes them. */
  #wanted(lane: Lane, { slots, batchSlots, isBulkDue, overloaded }: Demand): number {
    if (this.#drained.has(lane)) return 0;
    if (lane === "default") return this.#ahead.length > 0 ? 0 : clamp(slots, MAX_CLAIM);
    if (lane === "background") return isBulkDue ? 0 : MAX_BACKGROUND;
    const most = overloaded ? { mail: OVERLOADED_MAILS, bulk: OVERLOADED_BULK }[lane] : MAX_BATCH_CLAIM;
    return clamp(batchSlots ? batchSlots(lane) : slots, most);
  }
}

function clamp(n: number, most: number): number {
  return Math.max(0, Math.min(n, most));
}
