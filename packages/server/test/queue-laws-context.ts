import { afterEach, beforeEach } from "vitest";
import type { Db, Tx } from "../src/db/db.ts";
import type { ControllableClock, FiredTimer } from "../src/lib/controllable-clock.ts";
import type { ClaimedJob, JobHandler, JobRow, NewJob, Queue } from "../src/queue/queue.ts";

export interface QueueHarness {
  readonly db: Db;
  /** Frozen at the start. */
  readonly clock: ControllableClock;
  readonly queue: Queue;
  /** A queue as another process would have it after this one was killed: on the same database, knowing nothing. */
  restarted(): Queue;
  close(): Promise<void>;
}

export const SECOND = 1000;
export const HOUR = 3_600_000;

/** Tools for the laws of the queue; the queue is a fresh one for each test. */
export interface LawsContext extends Omit<QueueHarness, "close"> {
  /** Jobs as `note` saw them run, in order. */
  readonly ran: ClaimedJob[];
  /** Queues to stop at the end of the test, besides its own. */
  readonly stopping: Queue[];
  add(...jobs: NewJob[]): Promise<void>;
  work(n?: number | string, rest?: Partial<NewJob>): NewJob;
  /** A handler that writes its jobs down. */
  note(handle?: JobHandler): JobHandler;
  start(handler?: JobHandler, concurrency?: number): Promise<void>;
  advance(ms: number): Promise<FiredTimer[]>;
  jobs(): Promise<JobRow[]>;
  states(): Promise<string[]>;
  /** Writes a row a test can look for. */
  put(tx: Tx, name: string, value?: string): Promise<void>;
  /** The names of those rows. */
  names(): Promise<string[]>;
}

/** Opens a queue before each test of the suite it is called in, and stops it afterwards. */
export function lawsContext(open: () => Promise<QueueHarness>): LawsContext {
  let h: QueueHarness;
  let ran: ClaimedJob[];
  const stopping: Queue[] = [];
  beforeEach(async () => {
    h = await open();
    ran = [];
  });
  afterEach(async () => {
    await Promise.all([h.queue, ...stopping.splice(0)].map((q) => q.stop()));
    await h.close();
  });

  const note =
    (handle: JobHandler = async () => ({})): JobHandler =>
    (job) => {
      ran.push(job);
      return handle(job);
    };
  const jobs = async () => (await h.queue.list(h.db.read, { limit: 100, offset: 0 })).rows;
  return {
    get db() {
      return h.db;
    },
    get clock() {
      return h.clock;
    },
    get queue() {
      return h.queue;
    },
    get ran() {
      return ran;
    },
    stopping,
    restarted: () => h.restarted(),
    add: (...added) =>
      h.db.tx(async (tx) => {
        for (const job of added) await h.queue.enqueue(tx, job);
      }),
    work: (n = 0, rest = {}) => ({ kind: "work", payload: { n }, ...rest }),
    note,
    start: (handler = note(), concurrency = 4) => h.queue.start({ work: handler }, concurrency),
    advance: (ms) => h.clock.advanceTo(h.clock.now() + ms, h.queue.idle),
    jobs,
    states: async () => (await jobs()).map((j) => j.state),
    put: async (tx, name, value = "1") => void (await tx.insert(tx.t.meta).values({ name, value })),
    names: async () => (await h.db.read.select().from(h.db.read.t.meta).orderBy(h.db.read.t.meta.name)).map((r) => r.name),
  };
}
