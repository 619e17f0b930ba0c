import { and, asc, desc, eq, gt, isNotNull, isNull, lt, max, or } from "drizzle-orm";
import type { Db, Reader } from "../db/db.ts";
import type { Clock, Timer } from "../lib/clock.ts";
import { KeyedSignal } from "../lib/keyed-signal.ts";
import type { Log } from "../lib/log.ts";
import { SECOND } from "../lib/units.ts";
import {
  type AnsweredRequest,
  type FollowedRequests,
  FollowerCount,
  type KeptRequest,
  type RequestFollower,
  toSafePath,
} from "./request-log.ts";
import type { RequestTables } from "./tables.ts";

type Row = RequestTables["requestRecords"]["$inferSelect"];

/** Requests that a list is about. */
interface Wanted {
  readonly workspaceId: string;
  /** True if those without a key that works are wanted too. */
  readonly unknown: boolean;
  readonly after: number;
  readonly limit: number;
  readonly failed?: boolean | undefined;
  readonly method?: string | undefined;
}

// More are noted only while the database takes no writes: the newest ones are then left out.
const MAX_WAITING = 20_000;
const WRITTEN_AT_ONCE = 500;

// Rows read for a list whose filter matches few of them.
const CHUNK = 500;
const MAX_READ = 20_000;

// Numbers by which a request may be found after a later one, because another server wrote it at the same moment.
const LATE = 5000;
const ANY = "";

/** The requests to a server that was asked to keep them. They are written within a second, so that no request waits for it. */
export class RequestStore implements FollowedRequests {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #log: Log;
  #waiting: Omit<Row, "seq">[] = [];
  #dropped = 0;
  #timer: Timer | null = null;
  #saving: Promise<void> = Promise.resolve();
  readonly #signal: KeyedSignal;
  readonly #followers = new FollowerCount();

  constructor(db: Db, clock: Clock, log: Log) {
    this.#signal = new KeyedSignal(clock.real);
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  note({ pathname, ms, ...request }: AnsweredRequest): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#dropped += 1;
      return;
    }
    const path = toSafePath(pathname, request.route);
    this.#waiting.push({ ...request, path, tenths: Math.round(ms * 10), at: this.#clock.now() });
    this.#timer ??= this.#clock.real.after(SECOND, () => {
      this.#timer = null;
      void this.save();
    });
  }

  /** Writes what has not been written. Does not throw: what cannot be written waits for the next time. */
  save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#write());
    return this.#saving;
  }

  /** The newest requests that `show` keeps, newest first. */
  async listLatest<T>(read: Reader, wanted: Wanted, show: (kept: readonly KeptRequest[]) => Promise<readonly T[]>): Promise<T[]> {
    await this.save();
    const shown: T[] = [];
    for (let below: number | null = null, seen = 0; shown.length < wanted.limit && seen < MAX_READ; ) {
      const rows: Row[] = await this.#readBelow(read, wanted, below);
      shown.push(...(await show(rows.map(toKept))));
      const last = rows.at(-1);
      if (last === undefined || rows.length < CHUNK) break;
      below = last.seq;
      seen += rows.length;
    }
    return shown.slice(0, wanted.limit);
  }

  open(): () => void {
    return this.#followers.open();
  }

  /** Follows what this server and others write: requests of this one are given as they are written, of others within a second. */
  async begin(read: Reader, seen: number | null): Promise<RequestFollower> {
    const { requestRecords: t } = read.t;
    const [newest] = await read.select({ seq: max(t.seq) }).from(t);
    const first = seen ?? newest?.seq ?? 0;
    let last = first;
    const given = new Set<number>();
    const next = async (): Promise<KeptRequest[]> => {
      const found: Row[] = [];
      for (let above = Math.max(first, last - LATE); ; ) {
        const rows = await read.select().from(t).where(gt(t.seq, above)).orderBy(asc(t.seq)).limit(CHUNK);
        found.push(...rows.filter(({ seq }) => !given.has(seq)));
        const end = rows.at(-1);
        if (end === undefined || rows.length < CHUNK || found.length >= CHUNK) break;
        above = end.seq;
      }
      for (const { seq } of found) given.add(seq);
      last = Math.max(last, ...found.map(({ seq }) => seq));
      for (const seq of given) if (seq <= last - LATE) given.delete(seq);
      return found.map(toKept);
    };
    return {
      get last() {
        return last;
      },
      next,
      wait: (ms, signal) => this.#signal.wait(ANY, Math.min(ms, SECOND), signal),
    };
  }

  #readBelow(read: Reader, { workspaceId, unknown, after, failed, method }: Wanted, below: number | null): Promise<Row[]> {
    const { requestRecords: t } = read.t;
    const own = eq(t.workspaceId, workspaceId);
    return read
      .select()
      .from(t)
      .where(
        and(
          unknown ? or(own, isNull(t.workspaceId)) : own,
          gt(t.seq, after),
          below === null ? undefined : lt(t.seq, below),
          failed === undefined ? undefined : failed ? isNotNull(t.error) : isNull(t.error),
          method === undefined ? undefined : eq(t.method, method),
        ),
      )
      .orderBy(desc(t.seq))
      .limit(CHUNK);
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, WRITTEN_AT_ONCE);
      try {
        await this.#db.tx(async (tx) => {
          const { requestRecords: t } = tx.t;
          const numbers = await tx.nextNumbers(t, some.length);
          await tx.insertAll(
            t,
            some.map((row, i) => ({ ...row, seq: numbers[i] as number })),
          );
        });
      } catch (error) {
        this.#waiting.unshift(...some);
        this.#log.warn("requests could not be written to their log", { error: String(error) });
        return;
      }
      this.#signal.wake([ANY]);
    }
    if (this.#dropped > 0)
      this.#log.warn("requests are missing in their log, because it could not be written", { requests: this.#dropped });
    this.#dropped = 0;
  }
}

function toKept({ seq: sequence, at, tenths, ...row }: Row): KeptRequest {
  return { ...row, sequence, at: new Date(at).toISOString(), ms: tenths / 10 };
}
