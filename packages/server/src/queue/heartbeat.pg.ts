import type { PostgresDb } from "../db/postgres/database.ts";
import type { Listener } from "../db/postgres/listener.ts";
import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { StoreEvents } from "./job-store.ts";
import { INTERRUPTED, MAX_INTERRUPTIONS, type WorkerRegistry } from "./queue.ts";

/** Interval of the heartbeat, and the silence after which a process counts as dead. */
export interface HeartbeatTimes {
  /** The interval of the heartbeat, ms; a second when absent. */
  beatMs?: number | undefined;
  /** Silence, with its connection gone, after which a process counts as dead, ms; five seconds when absent. */
  deadMs?: number | undefined;
}

interface HeartbeatOptions extends HeartbeatTimes {
  db: PostgresDb;
  real: Clock["real"];
  log: Log;
  /** Makes a name that no other process has. */
  makeName: () => string;
}

const CHANNEL = "mailsvc_jobs";
// The first key of the advisory locks by which processes show that they are alive.
const LOCK_CLASS = 731_624;

// A process whose connection is still open may only be slow, so it gets more time.
const STUCK_FACTOR = 12;
// Announcements within this time are sent as one.
const ANNOUNCE_MS = 20;

// After this interruption the job is dead.
const LAST_INTERRUPTION = `interruptions >= ${MAX_INTERRUPTIONS - 1}`;

const BEAT = `with beat as (
    insert into workers (name, seen_at) values ($1, now()) on conflict (name) do update set seen_at = now()
  )
  select count(*)::int as others from workers where name <> $1`;

/** Makes unhandled jobs ready whose kind is one of `$1`. */
const BRING_BACK = "update jobs set state = 'ready' where state = 'unhandled' and kind = any ($1::text[])";

/**
 * Deletes dead processes and releases their jobs. A process is dead when it has been silent for `deadMs` and its connection,
 * which holds a lock on its name, is gone, or when it has been silent for twelve times as long. After a restart of the database
 * no heartbeat exists yet, so no process is declared dead then.
 * It reads the claimed jobs only, by their index: it runs each second in each process, and a million may wait.
 * Their attempts are counted as interruptions only; a job that was interrupted too often in a row is dead.
 * Also releases jobs that no live process holds, and jobs that this process holds without knowing (a claim whose answer was lost).
 */
export const SWEEP = `with dead as (
    delete from workers w where name <> $1 and pg_postmaster_start_time() < now() - $2::float8 * interval '1 ms'
      and (seen_at < now() - $2::float8 * ${STUCK_FACTOR} * interval '1 ms'
        or (seen_at < now() - $2::float8 * interval '1 ms' and pg_try_advisory_xact_lock(${LOCK_CLASS}, hashtext(name))))
    returning name
  ), freed as (
  update jobs set claimed_by = null, claimed_at = null, interruptions = interruptions + 1,
    state = case when ${LAST_INTERRUPTION} then 'dead' else 'ready' end,
    attempts = case when ${LAST_INTERRUPTION} then max_attempts else attempts - 1 end,
    last_error = case when ${LAST_INTERRUPTION} then '${INTERRUPTED}' else last_error end
  where state = 'running' and (claimed_by in (select name from dead)
    or (coalesce(claimed_at, 0) < date_part('epoch', now()) * 1000 - $2::float8
      and (claimed_by is null or not exists (select from workers w where w.name = claimed_by) or (claimed_by = $1 and id <> all ($3::bigint[])))))
  returning id)
  select (select count(*) from dead)::int as dead, (select count(*) from freed)::int as freed`;

/**
 * The connection between a server process and the others: on its own connection it is notified of work and shows that it
 * is alive. This way the jobs of a killed process are taken over within `deadMs` and one beat.
 */
export class Heartbeat implements WorkerRegistry {
  readonly #options: HeartbeatOptions;
  readonly #beatMs: number;
  readonly #deadMs: number;
  #events: StoreEvents = { wake: () => {}, held: () => [] };
  #kinds: readonly string[] = [];
  #died: () => void = () => {};
  #hasBeaten: () => Promise<void> = async () => {};
  #listener: Listener | null = null;
  #name = "";
  #timer: Timer | null = null;
  #open = false;
  #others = 0;
  #announcing = false;
  #currentBeat: Promise<void> = Promise.resolve();

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#beatMs = options.beatMs ?? 1000;
    this.#deadMs = options.deadMs ?? 5000;
  }

  /** The name under which this process claims jobs. */
  get name(): string {
    return this.#name;
  }

  get live(): number {
    return this.#others + 1;
  }

  async liveWorkers(): Promise<string[]> {
    const rows = await this.#options.db.read.raw<{ name: string }>("select name from workers");
    return rows.map(({ name }) => name);
  }

  onDeath(fn: () => void): void {
    this.#died = fn;
  }

  onBeat(fn: () => Promise<void>): void {
    this.#hasBeaten = fn;
  }

  /** Begins to beat, and to call and ask `events`. Unhandled jobs of `kinds` are ready again from now on. */
  async open(kinds: readonly string[], events: StoreEvents): Promise<void> {
    this.#kinds = kinds;
    this.#events = events;
    this.#name = this.#options.makeName();
    this.#open = true;
    try {
      await this.#beat();
    } catch (error) {
      this.#open = false;
      throw error;
    }
    this.#schedule();
  }

  /** Notifies the other processes, if there are any, that there is work: at most 50 times a second. */
  announce(): void {
    if (this.#others === 0 || this.#announcing || !this.#listener) return;
    this.#announcing = true;
    this.#options.real.after(ANNOUNCE_MS, () => {
      this.#announcing = false;
      this.#listener?.query("select pg_notify($1, '')", [CHANNEL]).catch(() => {});
    });
  }

  async close(): Promise<void> {
    this.#open = false;
    this.#timer?.cancel();
    await this.#currentBeat;
    const listener = this.#listener;
    this.#listener = null;
    if (!listener) return;
    await listener.query("delete from workers where name = $1", [this.#name]).catch(() => {});
    await listener.close();
  }

  async #connect(): Promise<void> {
    let listener: Listener | null = null;
    const lost = (): void => {
      if (this.#listener === listener) this.#listener = null;
    };
    listener = await this.#options.db.listen({ lost, notified: () => this.#events.wake() });
    try {
      await listener.query(`listen ${CHANNEL}`);
      // Without waiting for the lock: a broken connection of ours may still hold it for a while.
      await listener.query("select pg_try_advisory_lock($1, hashtext($2))", [LOCK_CLASS, this.#name]);
    } catch (error) {
      await listener.close();
      throw error;
    }
    if (this.#open) this.#listener = listener;
    else await listener.close();
  }

  async #beat(): Promise<void> {
    if (!this.#listener) await this.#connect();
    const listener = this.#listener;
    if (!listener) return;
    let swept: { dead: number; freed: number } | undefined;
    try {
      const [seen] = await listener.query<{ others: number }>(BEAT, [this.#name]);
      this.#others = seen?.others ?? 0;
      // Each time, because a process of an older version may have set aside what this one knows.
      await listener.query(BRING_BACK, [this.#kinds]);
      [swept] = await listener.query<{ dead: number; freed: number }>(SWEEP, [
        this.#name,
        this.#deadMs,
        this.#events.held().map(({ id }) => id),
      ]);
    } catch (error) {
      // The next beat opens a new connection, whatever is wrong with this one.
      this.#listener = null;
      await listener.close();
      throw error;
    }
    await this.#hasBeaten();
    await this.#options.db.analyzeGrownTables();
    if (swept && swept.freed > 0) this.#options.log.warn("taking over the jobs of a process that died", { jobs: swept.freed });
    if (swept && swept.dead > 0) this.#died();
  }

  #schedule(): void {
    const heartbeat = (): void => {
      this.#currentBeat = this.#beat()
        // Looks for work without an announcement too: one may be lost while the connection breaks.
        .then(() => this.#events.wake())
        .catch((error: unknown) => this.#options.log.warn("the queue lost its connection; reconnecting", { error: String(error) }))
        .finally(() => {
          if (this.#open) this.#schedule();
        });
    };
    this.#timer = this.#options.real.after(this.#beatMs, heartbeat);
  }
}
