import type { PostgresDb } from "../db/postgres/database.ts";
import type { Listener } from "../db/postgres/listener.ts";
import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { QUEUE_SCHEMA } from "./graphile-schema.ts";

export interface LinkOptions {
  db: PostgresDb;
  real: Clock["real"];
  log: Log;
  /** A name no other process has. */
  makeName: () => string;
  /** The jobs this process holds. */
  held: () => string[];
  /** There may be work. */
  wake: () => void;
  /** Another process was found dead. */
  died: () => void;
  /** How often a process says that it lives, ms. */
  beatMs?: number;
  /** After how long without a sign of life, and with its connection gone, a process counts as dead, ms. */
  deadMs?: number;
}

const CHANNEL = "mailsvc_jobs";
// The first half of the advisory locks by which processes show that they live.
const LOCK_CLASS = 731_624;
const JOBS = `${QUEUE_SCHEMA}._private_jobs`;

// A process whose connection still stands may only be slow: it is given longer.
const STUCK_FACTOR = 12;
// Announcements that follow each other faster are one.
const ANNOUNCE_MS = 20;

const BEAT = `with beat as (
    insert into workers (name, seen_at) values ($1, now()) on conflict (name) do update set seen_at = now()
  )
  select count(*)::int as others from workers where name <> $1`;

/**
 * Forgets dead processes and lets their jobs go. Dead is who has not been seen for a while and whose connection, which
 * holds a lock on its name, is gone; or who has not been seen for very long. While the database itself has just
 * started nobody had the chance to be seen, so nobody is dead.
 * Let go as well: what nobody living holds, and what this process holds without knowing (a claim whose answer was lost).
 */
const SWEEP = `with dead as (
    delete from workers w where name <> $1 and pg_postmaster_start_time() < now() - $2::float8 * interval '1 ms'
      and (seen_at < now() - $2::float8 * ${STUCK_FACTOR} * interval '1 ms'
        or (seen_at < now() - $2::float8 * interval '1 ms' and pg_try_advisory_xact_lock(${LOCK_CLASS}, hashtext(name))))
    returning name
  ), freed as (
  update ${JOBS} set locked_by = null, locked_at = null,
    last_error = case when attempts >= max_attempts then 'The process died in the last attempt.' else last_error end
  where locked_by is not null and (locked_by in (select name from dead)
    or (locked_at < now() - $2::float8 * interval '1 ms'
      and (not exists (select from workers w where w.name = locked_by) or (locked_by = $1 and id <> all ($3::bigint[])))))
  returning id)
  select (select count(*) from dead)::int as dead, (select count(*) from freed)::int as freed`;

/**
 * The tie between a server process and the others: one connection of its own, on which it hears that there is work, and
 * shows that it lives. graphile-worker's own leases end after four hours; with this a killed process's jobs are taken
 * over within `deadMs` and a beat.
 */
export class Link {
  readonly #options: LinkOptions;
  readonly #beatMs: number;
  readonly #deadMs: number;
  #listener: Listener | null = null;
  #name = "";
  #timer: Timer | null = null;
  #open = false;
  #others = 0;
  #announcing = false;
  #beating: Promise<void> = Promise.resolve();

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#beatMs = options.beatMs ?? 1000;
    this.#deadMs = options.deadMs ?? 5000;
  }

  /** Under which this process holds jobs. */
  get name(): string {
    return this.#name;
  }

  async open(): Promise<void> {
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

  /** Tells the other processes, if there are any, that there is work: at most 50 times a second. */
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
    await this.#beating;
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
    listener = await this.#options.db.listen({ lost, notified: this.#options.wake });
    try {
      await listener.query(`listen ${CHANNEL}`);
      // Not waited for: a connection of ours that broke may still hold it for a while.
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
      [swept] = await listener.query<{ dead: number; freed: number }>(SWEEP, [this.#name, this.#deadMs, this.#options.held()]);
    } catch (error) {
      // Whatever is wrong with it, the next beat takes a new one.
      this.#listener = null;
      await listener.close();
      throw error;
    }
    if (swept && swept.freed > 0) this.#options.log.warn("jobs of a process that died are taken over", { jobs: swept.freed });
    if (swept && swept.dead > 0) this.#options.died();
  }

  #schedule(): void {
    this.#timer = this.#options.real.after(this.#beatMs, () => {
      this.#beating = this.#beat()
        // Also without an announcement the table is looked at: one may be lost while the connection breaks.
        .then(() => this.#options.wake())
        .catch((error: unknown) => this.#options.log.warn("the queue lost its connection and tries again", { error: String(error) }))
        .finally(() => {
          if (this.#open) this.#schedule();
        });
    });
  }
}
