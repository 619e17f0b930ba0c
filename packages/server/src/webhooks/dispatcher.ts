import { inArray, isNotNull, min } from "drizzle-orm";
import type { Timer } from "../lib/clock.ts";
import { SealBroken } from "../lib/seal.ts";
import { sealPlace } from "../marketplace/agent-webhooks/agent-events.ts";
import type { ListingRow } from "../marketplace/listings/store.ts";
import type { Attempt } from "./attempt.ts";
import type { Receiver } from "./client.ts";
import { type Found, round } from "./complete-batch.ts";
import { Desks } from "./concurrency.ts";
import type { Ended } from "./outcomes.ts";
import type { DeliveryParts, DeliveryWorker, Message } from "./port.ts";
import { Agenda } from "./ready-set.ts";
import { LIMIT_MS } from "./retry-policy.ts";
import { Postman } from "./sender.ts";
import { claimOf, type Job, ownerOf } from "./streams.ts";

// Outcomes noted, and events taken, in one transaction: a few ms of work, for which other writers wait.
const BATCH = 256;
// While this many requests are under way, their outcomes are gathered for a moment and noted together.
const CROWD = 16;
const GATHER_MS = 15;
// Another process may have left work behind: looked for this often (real time).
const LOOK_MS = 5000;
// When the database cannot work, it is asked again after this long (real time).
const RETRY_MS = 1000;
// An event that cannot be opened, for want of the right master key, is put off for this long.
const PUT_OFF_MS = 60_000;
// An event that has waited for its place for so long that its lease might end within the attempt is given back first.
const LEASE_LEFT_MS = LIMIT_MS + 2000;
// How long requests under way may still take when the server stops (real time).
const STOP_MS = 1000;

/**
 * Brings events to webhooks (SPEC 6). The row of an event is the truth; a lane for each activation keeps its events in order
 * and is leased to one worker at a time, on any number of processes. Lanes are taken webhook by webhook, as many as that one may have:
 * what waits for a webhook that hangs waits in the database, and nobody behind it.
 *
 * One loop notes what has ended and takes what is next, in one transaction for both.
 */
export function makeDeliveries({ deps: depsOf, lookup }: DeliveryParts): DeliveryWorker {
  const agenda = new Agenda();
  const ended: Ended[] = [];
  let claims = 0;
  let name = "";
  let started = false;
  let stopping = false;
  let broken = false;
  let running = false;
  let again = false;
  let activity = 0;
  let enough = (): void => {};
  let timer: Timer | null = null;
  let look: Timer | null = null;
  const waiting: (() => void)[] = [];
  let postman: Postman | null = null;

  const post = (): Postman => {
    postman ??= new Postman(depsOf(), lookup);
    return postman;
  };

  const putOff = (job: Job, error: unknown): Ended => {
    const { log, clock } = depsOf();
    // Our fault and not the receiver's: it costs no attempt.
    const says = error instanceof SealBroken ? error.message : String(error);
    log.error("an event could not be prepared", { event: job.event.id, error: says });
    return { job, attempt: null, dueAt: clock.now() + PUT_OFF_MS };
  };

  const deliver = (receiver: Receiver, job: Job): Promise<Ended> => {
    const { event, listing } = job;
    if (depsOf().clock.now() > job.until - LEASE_LEFT_MS) return Promise.resolve({ job, attempt: null });
    try {
      const body = event.sealed === null ? event.body : depsOf().seal.open(event.sealed, sealPlace(event.id));
      const message: Message = { id: event.id, type: event.type, at: event.at, attempt: event.attempts + 1, body };
      return post()
        .send(receiver, listing, message)
        .then((attempt) => ({ job, attempt: broken && attempt.class !== "ok" ? null : attempt }));
    } catch (error) {
      return Promise.resolve(putOff(job, error));
    }
  };

  const desks = new Desks({
    receiver: (url) => post().receiver(url),
    deliver,
    ended: (outcomes) => {
      ended.push(...outcomes);
      if (ended.length >= BATCH) enough();
      pump();
    },
  });

  const enter = (job: Job): void => {
    if (stopping) ended.push({ job, attempt: null });
    else desks.enter(job);
  };

  /** Moves what has fallen due to the ready ones, and sets the timer for the next. */
  const arm = (): void => {
    const { clock } = depsOf();
    const now = clock.now();
    const next = agenda.advance(now);
    timer?.cancel();
    timer = next === null || !started ? null : clock.after(next - now, "agent.deliver", wakeDue);
  };

  const wakeDue = (): void => {
    arm();
    pump();
  };

  const goOn = ({ followed, claimed }: Found): void => {
    const now = depsOf().clock.now();
    for (const [job, { next, dueAt }] of followed) {
      agenda.note(job.listing.id, dueAt, now);
      if (next) enter(next);
    }
    for (const [listingId, { jobs, nextAt }] of claimed) {
      agenda.correct(listingId, nextAt, now);
      for (const job of jobs) enter(job);
    }
  };

  /** Notes some of what has ended and takes what is next. False when there is neither. */
  const turn = async (): Promise<boolean> => {
    const deps = depsOf();
    const outcomes = ended.splice(0, BATCH);
    const wishes = started && !stopping ? desks.wishes(agenda, BATCH) : [];
    if (outcomes.length === 0 && wishes.length === 0) return false;
    claims += 1;
    agenda.beginRound();
    const left = await round(deps, claimOf(name, claims), outcomes, wishes, goOn);
    agenda.endRound();
    if (left === null) return true;
    ended.unshift(...left);
    await deps.clock.real.sleep(RETRY_MS);
    if (stopping) ended.length = 0;
    return true;
  };

  /** Waits until enough has ended, for a moment at most. */
  const gather = (): Promise<void> =>
    new Promise((done) => {
      enough = done;
      void depsOf().clock.real.sleep(GATHER_MS).then(done);
    });

  const settled = (): void => {
    if (running || desks.under > 0 || ended.length > 0) return;
    for (const done of waiting.splice(0)) done();
  };

  /** Goes round until nothing has ended and nothing can be taken. Called again while it runs, it goes round once more. */
  function pump(): void {
    again = true;
    if (running || name === "") return;
    running = true;
    activity += 1;
    void (async () => {
      while (again) {
        again = false;
        do {
          if (desks.under >= CROWD && ended.length < BATCH) await gather();
        } while (await turn());
        arm();
      }
      running = false;
      settled();
    })();
  }

  /** Finds what waits in the database. */
  const survey = async (): Promise<void> => {
    const { db, clock } = depsOf();
    const { deliveryLanes: l } = db.read.t;
    const rows = await db.read
      .select({ listingId: l.listingId, at: min(l.dueAt) })
      .from(l)
      .where(isNotNull(l.dueAt))
      .groupBy(l.listingId);
    const now = clock.now();
    for (const { listingId, at } of rows) agenda.note(listingId, at, now);
  };

  /** Gives back what was taken under the names of processes that are gone: nobody waits for the end of their leases. */
  const takeOver = async (): Promise<void> => {
    const { db, clock, queue } = depsOf();
    const { deliveryLanes: l } = db.read.t;
    // In this order: who takes something is among the living before, and stays there until it is given back.
    const rows = await db.read.selectDistinct({ claim: l.claim }).from(l).where(isNotNull(l.claim));
    const living = new Set(await queue.workers?.liveWorkers());
    const left = rows.flatMap(({ claim }) => (claim === null || living.has(ownerOf(claim)) ? [] : [claim]));
    for (let i = 0; i < left.length; i += BATCH) {
      const some = left.slice(i, i + BATCH);
      await db.tx(async (tx) => void (await tx.update(l).set({ claim: null, dueAt: clock.now() }).where(inArray(l.claim, some))));
    }
  };

  const lookFor = async (find: () => Promise<void>): Promise<void> => {
    try {
      await find();
      await survey();
      if (started) wakeDue();
    } catch (error) {
      depsOf().log.warn("deliveries could not look for work", { error: String(error) });
    }
  };

  const lookAgain = (): void => {
    look = depsOf().clock.real.after(LOOK_MS, () => {
      void lookFor(async () => {}).then(() => {
        if (started) lookAgain();
      });
    });
  };

  return {
    wake: (listingIds) => {
      for (const listingId of listingIds) agenda.wake(listingId);
      if (started) pump();
    },
    send: (listing: ListingRow, message: Message): Promise<Attempt> => post().once(listing, message),
    start: async () => {
      const { random, queue } = depsOf();
      agenda.clear();
      const { workers: crew } = queue;
      name = crew?.name ?? Buffer.from(random.bytes(9)).toString("hex");
      await takeOver();
      crew?.onDeath(() => void (started && lookFor(takeOver)));
      started = true;
      stopping = false;
      broken = false;
      await survey();
      if (crew) lookAgain();
      wakeDue();
    },
    stop: async () => {
      if (!started) return;
      stopping = true;
      timer?.cancel();
      look?.cancel();
      desks.clearAhead();
      const rest = depsOf().clock.real.after(STOP_MS, () => {
        broken = true;
        postman?.close();
      });
      pump();
      await new Promise<void>((done) => {
        waiting.push(done);
        settled();
      });
      rest.cancel();
      started = false;
      postman?.close();
      postman = null;
      desks.clear();
    },
    idle: async () => {
      if (!started) return false;
      const before = activity;
      if (!agenda.isEmpty || ended.length > 0) pump();
      if (running || desks.under > 0)
        await new Promise<void>((done) => {
          waiting.push(done);
          settled();
        });
      return activity !== before;
    },
  };
}
