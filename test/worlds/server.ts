import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresDb } from "../../packages/server/src/db/postgres/database.ts";
import type { MailTransform } from "../../packages/server/src/delivery/transform.ts";
import { jsonLog } from "../../packages/server/src/lib/log.ts";
import { type Random, seededRandom } from "../../packages/server/src/lib/random.ts";
import type { Heartbeat } from "../../packages/server/src/queue/heartbeat.pg.ts";
import { createWorld, type TestWorld } from "../../packages/server/src/testing.ts";
import type { MailPeer } from "./mail-peer.ts";
import type { Place } from "./place.ts";

interface ServerOptions {
  readonly place: Place;
  readonly seed: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Null where mail is captured. */
  readonly peer: MailPeer | null;
  readonly flags: Readonly<Record<string, string>>;
  /** False for a server in production; true when absent. */
  readonly dev?: boolean;
  /** Gets each line of the log. */
  readonly log: (line: string) => void;
}

/** Moment at which a server dies: before a transaction commits, or after it has, before anybody learns of it. */
export type Moment = "before" | "after";

/** Jobs that come back for ever, at intervals, whatever a world has. */
const AGAIN_AND_AGAIN: ReadonlySet<string> = new Set([
  "segments.rebuild",
  "idempotency.forget",
  "senders.recheck",
  "inboundDomains.recheck",
  "retention.sweep",
  "pages.forget_visitors",
  "agent.file.sweep",
  "inbox.clearTestMail",
]);

/** Time for which a transaction waits for a deed that comes before it, ms of real time: many times what a call takes. */
const INTERRUPTION_MS = 60;

/** Error of Postgres when it cannot write. */
const DISK_FULL = Object.assign(new Error("could not extend file: No space left on device"), { code: "53100" });

/** Time for which a mail waits at a point of its way for a deed, ms of real time at most: it holds no transaction that the deed could need. */
const DEED_MS = 500;

class Killed extends Error {}

/** A deed that one of the next transactions waits for: before it begins, or after it has ended and before anybody learns of it. */
interface Interruption {
  /** The number of that transaction, counted from now or from the deed before. */
  readonly at: number;
  readonly moment: Moment;
  readonly deed: () => Promise<unknown>;
  /** The number of transactions of others that come after the deed, if there are so many. */
  readonly more: number;
}

/** Point in the way of a mail: it is claimed and nothing of it is read yet, or it is rendered and nothing is stored of that. */
type MailPoint = "claimed" | "rendered";

/** A deed for which the mail of a campaign waits at a point of its way. */
interface MailStop {
  readonly point: MailPoint;
  readonly campaignId: string;
  /** True if only mail that was put off before is meant. */
  readonly isRetry: boolean;
  readonly deed: () => Promise<unknown>;
}

/**
 * A server that can be killed at any of its transactions, within this process. From that instant it does nothing more: what it was doing
 * never goes on, as in a process that is gone. Its database is closed, so that another server can take over.
 */
export class Server {
  readonly world: TestWorld;
  /** Resolves when it is killed. */
  readonly died: Promise<void>;
  /** True while its disk takes no more: transactions that write fail. SQLite itself says so, where it is told how many pages it may have. */
  isFull = false;
  /** Time that each transaction waits for its turn, ms of real time at most: what it has read before may have changed by then. */
  lagMs = 0;
  #dead = false;
  #die: () => void = () => {};
  #fuse: { left: number; readonly moment: Moment } | null = null;
  #interruptions: readonly Interruption[] = [];
  #isInterrupted = false;
  #finished = 0;
  #mailStops: readonly MailStop[] = [];

  readonly #random: Random;

  private constructor(world: TestWorld, seed: number, isDead: { value: () => boolean }) {
    this.world = world;
    this.#random = seededRandom(seed);
    this.died = new Promise((resolve) => (this.#die = resolve));
    isDead.value = () => this.#dead;
    this.#makeMortal();
    this.#watchMail();
  }

  static async start({ place, seed, now, peer, flags, log, dev = true }: ServerOptions): Promise<Server> {
    const isDead = { value: () => false };
    const world = await createWorld({
      seed,
      now: new Date(now).toISOString(),
      folder: place.folder,
      flags,
      dev,
      log: jsonLog(log, () => now),
      ...(place.databaseUrl !== null && { databaseUrl: place.databaseUrl }),
      // All relays lead to the same mail server.
      ...(peer && {
        mailer: peer.mailerFor(() => isDead.value(), null),
        relays: { makeMailer: async ({ host }) => peer.mailerFor(() => isDead.value(), host) },
      }),
    });
    return new Server(world, seed, isDead);
  }

  get isDead(): boolean {
    return this.#dead;
  }

  /** The next instant at which something is due that was begun, ms; what is swept and looked at again and again is left out. */
  async findNext(): Promise<number> {
    const now = this.world.clock.now();
    const timer = this.world.clock.control.next(AGAIN_AND_AGAIN)?.at ?? Number.POSITIVE_INFINITY;
    const jobs = (await this.#listJobs()).filter(({ kind, runAt }) => !AGAIN_AND_AGAIN.has(kind) && runAt > now);
    return Math.min(timer, ...jobs.map(({ runAt }) => runAt));
  }

  #listJobs() {
    const { read } = this.world.app.deps.db;
    return read.select({ kind: read.t.jobs.kind, runAt: read.t.jobs.runAt }).from(read.t.jobs);
  }

  /** Lets a stretch of time be over at once. Work that became due in it is done late, as after a long sleep of the machine. */
  async skipTo(at: number): Promise<void> {
    const { clock, settle } = this.world;
    const to = Math.max(at, clock.now());
    clock.control.reset(to, "frozen");
    await Promise.race([clock.control.advanceTo(to, settle), this.died]);
  }

  /** Kills it at the `n`-th transaction from now. */
  killAt(n: number, moment: Moment): void {
    this.#fuse = { left: n, moment };
  }

  /**
   * Lets deeds come between its next transactions and what is read for them or after them, one deed after the other. Returns how to put
   * them off.
   */
  interrupt(...deeds: readonly Interruption[]): () => void {
    this.#interruptions = deeds;
    return () => {
      this.#interruptions = [];
    };
  }

  /** Lets deeds come when mail is at points of its way, one deed after the other. */
  stopMail(...stops: readonly MailStop[]): void {
    this.#mailStops = stops;
  }

  /** Puts off a kill that was planned. */
  spare(): void {
    this.#fuse = null;
  }

  /** Kills it now. */
  kill(): void {
    this.#dead = true;
    this.#die();
  }

  /** Closes what a dead process would have left to the operating system. */
  async bury(): Promise<void> {
    this.kill();
    const { db } = this.world.app.deps;
    if (db.engine === "postgres") await this.#fallSilent(db as PostgresDb);
    await db.close();
    // Work that hangs is given up after some seconds of real time; nobody waits for that.
    void this.world.dispose().catch(() => {});
  }

  /** Breaks the connection by which other servers know that it is alive, for good. */
  async #fallSilent(db: PostgresDb): Promise<void> {
    Object.assign(db, { listen: () => Promise.reject(new Killed()) });
    const { name } = this.world.app.deps.queue.workers as Heartbeat;
    await db.read.raw(
      "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid::bigint = hashtext($1)::bigint & 4294967295",
      [name],
    );
  }

  #makeMortal(): void {
    const { db } = this.world.app.deps;
    const { tx } = db;
    const never = new Promise<never>(() => {});
    const mortal: typeof db.tx = async (work, options) => {
      if (this.#dead) return never;
      await this.#beInterrupted("before");
      if (this.lagMs > 0) await sleep(this.#random.fraction() * this.lagMs);
      try {
        const value = await tx(async (q) => {
          const result = await work(q);
          if (this.isFull && db.engine === "postgres") throw DISK_FULL;
          if (this.#burns("before")) this.kill();
          if (this.#dead) throw new Killed();
          return result;
        }, options);
        this.#finished += 1;
        await this.#beInterrupted("after");
        if (this.#burns("after")) this.kill();
        return this.#dead ? never : value;
      } catch (error) {
        if (this.#dead) return never;
        throw error;
      }
    };
    Object.assign(db, { tx: mortal });
  }

  async #beInterrupted(moment: Moment): Promise<void> {
    const [next, ...later] = this.#interruptions;
    // The transactions of a deed are not counted.
    if (next?.moment !== moment || this.#isInterrupted) return;
    this.#interruptions = next.at > 1 ? [{ ...next, at: next.at - 1 }, ...later] : later;
    if (next.at > 1) return;
    this.#isInterrupted = true;
    // The deed may wait for this very transaction, or for others of its turn.
    await Promise.race([next.deed(), sleep(INTERRUPTION_MS)]);
    this.#isInterrupted = false;
    const [until, end] = [this.#finished + next.more, performance.now() + INTERRUPTION_MS];
    while (this.#finished < until && performance.now() < end) await sleep(1);
  }

  #watchMail(): void {
    const transforms = this.world.app.deps.mailTransforms as MailTransform[];
    transforms.unshift((_read, mails) => this.#reach("claimed", mails));
    transforms.push((_read, mails) => this.#reach("rendered", mails));
  }

  async #reach(point: MailPoint, mails: Parameters<MailTransform>[1]): Promise<void> {
    const [next, ...later] = this.#mailStops;
    const concerns = ({ email, attempt }: (typeof mails)[number]): boolean =>
      email.campaignId === next?.campaignId && (attempt > 1 || !next.isRetry);
    if (next?.point !== point || !mails.some(concerns)) return;
    this.#mailStops = later;
    await Promise.race([next.deed(), sleep(DEED_MS)]);
    // Effects of the deed come before those of the mail.
    const end = performance.now() + DEED_MS;
    const isBusy = async (): Promise<boolean> => (await this.#listJobs()).some(({ runAt }) => runAt <= this.world.clock.now());
    while ((await isBusy()) && performance.now() < end) await sleep(1);
  }

  #burns(moment: Moment): boolean {
    if (this.#fuse?.moment !== moment) return false;
    this.#fuse.left -= 1;
    return this.#fuse.left <= 0;
  }
}
