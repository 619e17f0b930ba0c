import { inArray, isNotNull, min } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import { StorageUnavailable } from "../../db/errors.ts";
import type { Timer } from "../../lib/clock.ts";
import { SealBroken } from "../../lib/seal.ts";
import { type ListingRow, listingById } from "../listings/store.ts";
import type { Attempt } from "./attempt.ts";
import { sealPlace } from "./emit.ts";
import { type Claimed, claimLanes, claimOf, type Following, type Job, LEASE_MS, ownerOf } from "./lanes.ts";
import { Origins } from "./origins.ts";
import type { DeliveryParts, DeliveryWorker, Message } from "./port.ts";
import { Postman } from "./postman.ts";
import type { Receiver } from "./receiver.ts";
import { type Ended, settle } from "./settle.ts";

// Requests under way at a time, to all webhooks together.
const MOST = 2048;
// Those of them that may be with webhooks which are slow or were never called before: the rest is left for the quick ones.
const MOST_SLOW = 1536;
// Webhooks that are remembered.
const MOST_DESKS = 1000;
// Outcomes noted, and events taken, in one transaction: a few ms of work, for which other writers wait.
const BATCH = 256;
// While this many requests are under way, their outcomes are gathered for a moment and noted together, at most this many.
const CROWD = 16;
const GATHERED = 256;
const GATHER_MS = 15;
// How many times what it may have under way is taken for a webhook that answers at once.
const AHEAD = 8;
// Another process may have left work behind: looked for this often (real time).
const LOOK_MS = 5000;
// When the database cannot work, it is asked again after this long (real time).
const RETRY_MS = 1000;
// An event that cannot be opened, for want of the right master key, is put off for this long.
const PUT_OFF_MS = 60_000;
// How long requests under way may still take when the server stops (real time).
const STOP_MS = 1000;

/** Work for one webhook that is in memory: taken, and waiting for a free place. */
interface Desk {
  receiver: Receiver;
  readonly ahead: Job[];
}

/**
 * Brings events to webhooks (SPEC 6). The row of an event is the truth; a lane for each activation keeps its events in order
 * and is leased to one worker at a time, on any number of processes. Lanes are taken webhook by webhook, as many as that one may have:
 * what waits for a webhook that hangs waits in the database, and nobody behind it.
 *
 * One loop notes what has ended and takes what is next, in one transaction for both.
 */
export const makeDeliveries = ({ deps: depsOf, lookup }: DeliveryParts): DeliveryWorker => {
  const desks = new Map<string, Desk>();
  const origins = new Origins();
  /** Those whose webhook could take more of what they hold, if there were places. */
  const stuck = new Set<Desk>();
  /** Listings with something that is due, the one that waits longest first. */
  const ready = new Set<string>();
  /** Those that were woken since the last round began. */
  const fresh = new Set<string>();
  /** When something falls due next, by listing. */
  const later = new Map<string, number>();
  const ended: Ended[] = [];
  let under = 0;
  let underSlow = 0;
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

  /** How much may be taken for a webhook, whoever else lives at its origin. */
  const room = ({ receiver, ahead }: Desk): number => {
    // A webhook that answers at once gets the next event as soon as the one before is there, without waiting for the database.
    const quick = receiver.quick;
    const wanted = receiver.limit * (quick ? AHEAD : 1) - receiver.busy - ahead.length;
    return Math.max(0, Math.min(wanted, MOST - under, quick ? BATCH : MOST_SLOW - underSlow));
  };

  /** What to take in the next round: some for each webhook that has work and room, in turns. */
  const wishes = (): [listingId: string, n: number][] => {
    if (!started || stopping) return [];
    const out: [string, number][] = [];
    for (const listingId of origins.freed()) ready.add(listingId);
    /** Wished for in this round, by origin. */
    const wished = new Map<string, number>();
    let left = BATCH;
    let slow = MOST_SLOW - underSlow;
    for (const listingId of [...ready]) {
      if (left <= 0) break;
      const desk = desks.get(listingId);
      const quick = desk?.receiver.quick ?? false;
      const wanted = Math.min(desk ? room(desk) : 1, left, quick ? left : slow);
      if (wanted <= 0) continue;
      // Of a listing that was never called nobody knows where its webhook lives; what is taken for it may be given back.
      const origin = desk?.receiver.origin ?? origins.placeOf(listingId);
      const before = origin === undefined ? 0 : (wished.get(origin) ?? 0);
      const n = origin === undefined ? wanted : Math.min(wanted, origins.roomAhead(origin, quick) - before);
      if (origin !== undefined && n <= 0) {
        ready.delete(listingId);
        origins.wait(origin, listingId, quick);
        continue;
      }
      if (origin !== undefined) wished.set(origin, before + n);
      out.push([listingId, n]);
      left -= n;
      if (!quick) slow -= n;
      // To the end of the line.
      ready.delete(listingId);
      ready.add(listingId);
    }
    return out;
  };

  const noteDue = (listingId: string, at: number | null, now: number): void => {
    if (at === null) return;
    if (at <= now) ready.add(listingId);
    else later.set(listingId, Math.min(at, later.get(listingId) ?? at));
  };

  /** Moves what has fallen due to the ready ones, and sets the timer for the next. */
  const arm = (): void => {
    const { clock } = depsOf();
    const now = clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [listingId, at] of later) {
      if (at <= now) {
        later.delete(listingId);
        ready.add(listingId);
      } else next = Math.min(next, at);
    }
    timer?.cancel();
    timer = next === Number.POSITIVE_INFINITY || !started ? null : clock.after(next - now, "agent.deliver", wakeDue);
  };

  const wakeDue = (): void => {
    arm();
    pump();
  };

  /** One transaction: notes what has ended, and takes what is next. */
  const round = async (outcomes: readonly Ended[], wanted: readonly [string, number][]): Promise<void> => {
    const deps = depsOf();
    const now = deps.clock.now();
    claims += 1;
    const claim = claimOf(name, claims);
    fresh.clear();
    const { followed, claimed } = await deps.db.tx(async (tx: Tx) => {
      const listings = new Map<string, ReturnType<typeof listingById>>();
      const listingOf = (id: string): ReturnType<typeof listingById> => {
        const listing = listings.get(id) ?? listingById(tx, id);
        listings.set(id, listing);
        return listing;
      };
      // First, so that what is given back can be taken.
      const settled = await Promise.all(outcomes.map((outcome) => settle(tx, deps, outcome, listingOf)));
      return { followed: settled, claimed: await Promise.all(wanted.map(([listingId, n]) => claimLanes(tx, listingId, now, n, claim))) };
    });
    outcomes.forEach(({ job }, i) => {
      const { next, dueAt } = followed[i] as Following;
      noteDue(job.listing.id, dueAt, now);
      if (next) enter(next);
    });
    wanted.forEach(([listingId], i) => {
      const { jobs, nextAt } = claimed[i] as Claimed;
      if (nextAt === null || nextAt > now) {
        ready.delete(listingId);
        later.delete(listingId);
      }
      noteDue(listingId, nextAt, now);
      for (const job of jobs) enter(job);
    });
    // Woken while the transaction ran, which may not have seen why.
    for (const listingId of fresh) ready.add(listingId);
  };

  /** A transaction that fails is taken apart, so that one outcome which cannot be noted does not hold up the others. */
  const careful = async (outcomes: readonly Ended[], wanted: readonly [string, number][]): Promise<void> => {
    const { log, clock } = depsOf();
    try {
      await round(outcomes, wanted);
    } catch (error) {
      if (error instanceof StorageUnavailable) {
        log.error("outcomes of deliveries could not be stored; the next try is in a second", { error: error.message });
        ended.unshift(...outcomes);
        await clock.real.sleep(RETRY_MS);
        if (stopping) ended.length = 0;
        return;
      }
      if (outcomes.length + wanted.length <= 1) {
        // Its lease ends by itself; the event is sent again then.
        log.error("a delivery could not be noted", { event: outcomes[0]?.job.event.id ?? null, error: String(error) });
        for (const [listingId] of wanted) {
          ready.delete(listingId);
          later.set(listingId, clock.now() + LEASE_MS);
        }
        return;
      }
      for (const outcome of outcomes) await careful([outcome], []);
      for (const wish of wanted) await careful([], [wish]);
    }
  };

  const enter = (job: Job): void => {
    if (stopping) {
      ended.push({ job, attempt: null });
      return;
    }
    const { id, webhookUrl } = job.listing;
    let desk = desks.get(id);
    if (!desk) {
      makeRoom();
      desk = { receiver: post().receiver(webhookUrl), ahead: [] };
      desks.set(id, desk);
    } else if (desk.receiver.url !== webhookUrl) {
      // The listing has moved; what was learnt about the old place says nothing about the new one.
      origins.ahead(desk.receiver.origin, -desk.ahead.length);
      desk.receiver.close();
      desk.receiver = post().receiver(webhookUrl);
      origins.ahead(desk.receiver.origin, desk.ahead.length);
    }
    desk.ahead.push(job);
    origins.ahead(desk.receiver.origin, 1);
    begin(desk);
  };

  /** Webhooks that have nothing to do are forgotten, and their connections closed. */
  const makeRoom = (): void => {
    if (desks.size < MOST_DESKS) return;
    for (const [id, { receiver, ahead }] of desks) {
      if (receiver.busy > 0 || ahead.length > 0) continue;
      receiver.close();
      desks.delete(id);
    }
  };

  const begin = (desk: Desk): void => {
    const { receiver, ahead } = desk;
    const { origin } = receiver;
    stuck.delete(desk);
    while (ahead.length > 0 && receiver.busy < receiver.limit && under < MOST && origins.room(origin, receiver.quick) > 0) {
      const job = ahead.shift() as Job;
      origins.ahead(origin, -1);
      void run(desk, job);
    }
    if (ahead.length === 0) return;
    // It has become slow under what was taken for it, or its origin is full: others may have that, or it later.
    if (!receiver.quick && (receiver.busy >= receiver.limit || origins.room(origin, false) <= 0)) {
      origins.ahead(origin, -ahead.length);
      for (const job of ahead.splice(0)) ended.push({ job, attempt: null });
      pump();
    } else if (receiver.busy < receiver.limit) stuck.add(desk);
  };

  const run = async (desk: Desk, job: Job): Promise<void> => {
    const { receiver } = desk;
    const { origin } = receiver;
    const slow = !receiver.quick;
    under += 1;
    if (slow) underSlow += 1;
    origins.begin(origin, slow);
    const outcome = await deliver(receiver, job);
    origins.end(origin, slow);
    under -= 1;
    if (slow) underSlow -= 1;
    // Broken off by us: that is no failure of the receiver's.
    if (ended.length >= GATHERED) enough();
    ended.push(broken && outcome.attempt?.class !== "ok" ? { job, attempt: null } : outcome);
    begin(desk);
    for (const other of [...stuck]) if (under < MOST) begin(other);
    pump();
  };

  const deliver = async (receiver: Receiver, job: Job): Promise<Ended> => {
    const { seal, log, clock } = depsOf();
    const { event, listing } = job;
    try {
      const body = event.sealed === null ? event.body : seal.open(event.sealed, sealPlace(event.id));
      const message: Message = { id: event.id, type: event.type, at: event.at, attempt: event.attempts + 1, body };
      return { job, attempt: await post().send(receiver, listing, message) };
    } catch (error) {
      // Our fault and not the receiver's: it costs no attempt.
      log.error("an event could not be prepared", { event: event.id, error: error instanceof SealBroken ? error.message : String(error) });
      return { job, attempt: null, dueAt: clock.now() + PUT_OFF_MS };
    }
  };

  /** Waits until enough has ended, for a moment at most. */
  const gather = (): Promise<void> =>
    new Promise((done) => {
      enough = done;
      void depsOf().clock.real.sleep(GATHER_MS).then(done);
    });

  const settled = (): void => {
    if (running || under > 0 || ended.length > 0) return;
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
        for (;;) {
          if (under >= CROWD && ended.length < GATHERED) await gather();
          const outcomes = ended.splice(0, BATCH);
          const wanted = wishes();
          if (outcomes.length === 0 && wanted.length === 0) break;
          await careful(outcomes, wanted);
        }
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
    for (const { listingId, at } of rows) noteDue(listingId, at, now);
  };

  /** Gives back what was taken under the names of processes that are gone: nobody waits for the end of their leases. */
  const takeOver = async (): Promise<void> => {
    const { db, clock, queue } = depsOf();
    const { deliveryLanes: l } = db.read.t;
    // In this order: who takes something is among the living before, and stays there until it is given back.
    const rows = await db.read.selectDistinct({ claim: l.claim }).from(l).where(isNotNull(l.claim));
    const living = new Set(await queue.crew?.living());
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
      for (const listingId of listingIds) {
        ready.add(listingId);
        fresh.add(listingId);
      }
      if (started) pump();
    },
    send: (listing: ListingRow, message: Message): Promise<Attempt> => post().once(listing, message),
    start: async () => {
      const { random, queue } = depsOf();
      ready.clear();
      later.clear();
      const { crew } = queue;
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
      for (const { ahead } of desks.values()) for (const job of ahead.splice(0)) ended.push({ job, attempt: null });
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
      stuck.clear();
      origins.clear();
    },
    idle: async () => {
      if (!started) return false;
      const before = activity;
      if (ready.size > 0 || ended.length > 0) pump();
      if (running || under > 0)
        await new Promise<void>((done) => {
          waiting.push(done);
          settled();
        });
      return activity !== before;
    },
  };
};
