import { beforeEach, expect, test } from "vitest";
import type { ListingRow } from "../marketplace/listings/store.ts";
import type { Receiver } from "./client.ts";
import { Desks } from "./concurrency.ts";
import type { Ended } from "./outcomes.ts";
import { Agenda } from "./ready-set.ts";
import type { Job } from "./streams.ts";

/** A webhook that answers when it is told to. */
interface Place {
  readonly url: string;
  readonly origin: string;
  quick: boolean;
  limit: number;
  busy: number;
  closed: boolean;
  close(): void;
}

let places: Map<string, Place>;
/** Ends requests under way, oldest first. */
let under: { readonly listingId: string; end(): Promise<void> }[];
let ended: Ended[];
let desks: Desks;
let agenda: Agenda;
let jobs = 0;

const place = (url: string): Place => {
  const made: Place = {
    url,
    origin: new URL(url).origin,
    quick: true,
    limit: 64,
    busy: 0,
    closed: false,
    close: () => void (made.closed = true),
  };
  places.set(url, made);
  return made;
};

beforeEach(() => {
  places = new Map();
  under = [];
  ended = [];
  agenda = new Agenda();
  desks = new Desks({
    receiver: (url) => place(url) as unknown as Receiver,
    deliver: (receiver, job) => {
      const at = receiver as unknown as Place;
      at.busy += 1;
      return new Promise((resolve) => {
        const end = async (): Promise<void> => {
          at.busy -= 1;
          resolve({ job, attempt: null });
          // For whoever awaits it.
          for (let i = 0; i < 5; i += 1) await null;
        };
        under.push({ listingId: job.listing.id, end });
      });
    },
    ended: (outcomes) => void ended.push(...outcomes),
  });
});

const job = (listingId: string, host = listingId): Job => {
  jobs += 1;
  const listing = { id: listingId, webhookUrl: `https://${host}.example.com/${listingId}` } as ListingRow;
  return { activationId: `act-${jobs}`, listing, claim: "c", held: false, until: 0 } as Job;
};

const enter = (n: number, listingId: string, host?: string): void => {
  for (let i = 0; i < n; i += 1) desks.enter(job(listingId, host));
};

const placeOf = (host: string, listingId = host): Place => places.get(`https://${host}.example.com/${listingId}`) as Place;

/** Those with requests under way, most of them first. */
const busy = (): [listingId: string, n: number][] =>
  [...Map.groupBy(under, ({ listingId }) => listingId)].map(([id, some]): [string, number] => [id, some.length]);

const endOne = (listingId: string): Promise<void> => {
  const i = under.findIndex((one) => one.listingId === listingId);
  const [one] = under.splice(i, 1);
  return one?.end() ?? Promise.reject(new Error("nothing under way"));
};

test("of one webhook as many are under way as it may have, and the rest follows", async () => {
  enter(100, "a");
  expect(busy()).toEqual([["a", 64]]);
  await endOne("a");
  expect([busy(), desks.under]).toEqual([[["a", 64]], 64]);
  while (under.length > 0) await endOne("a");
  expect([desks.under, ended.length]).toEqual([0, 100]);
});

test("those at one origin have its places in turns, however much one of them has", async () => {
  enter(300, "a", "shared");
  enter(3, "b", "shared");
  enter(1, "c", "shared");
  expect(busy()).toEqual([["a", 64]]);
  for (let i = 0; i < 8; i += 1) await endOne("a");
  expect(new Map(busy())).toEqual(
    new Map([
      ["a", 60],
      ["b", 3],
      ["c", 1],
    ]),
  );
});

test("where all places are taken, origins have those that are free again in turns; some are left for those which have few", async () => {
  for (let i = 0; i < 28; i += 1) enter(100, `o${i}`);
  expect(desks.under).toBe(28 * 64);
  enter(10, "late");
  // Of the places that are left for those which have few.
  expect(new Map(busy()).get("late")).toBe(4);
  for (let i = 0; i < 12; i += 1) await endOne("o0");
  const now = new Map(busy());
  expect(desks.under).toBe(28 * 64);
  expect(now.get("late")).toBeGreaterThan(4);
});

test("a listing that was never called is called although its origin is full with another one's", async () => {
  enter(300, "a", "shared");
  agenda.wake("b");
  expect(desks.wishes(agenda, 256)).toEqual([["b", 1]]);
  places.clear();
  const b = job("b", "shared");
  desks.enter(b);
  placeOf("shared", "b").quick = false;
  placeOf("shared", "b").limit = 1;
  await endOne("a");
  await endOne("a");
  expect(new Map(busy()).get("b")).toBe(1);
  expect(ended.filter(({ job: { listing } }) => listing.id === "b")).toEqual([]);
});

test("who waits for room at an origin comes before those who had some", () => {
  enter(512, "a", "shared");
  enter(1, "b", "shared");
  for (const id of ["b", "a"]) agenda.wake(id);
  // Full, and noted as waiting.
  expect(desks.wishes(agenda, 256)).toEqual([]);
  agenda.wake("a");
  desks.clearAhead();
  expect(desks.wishes(agenda, 256)[0]?.[0]).toBe("b");
});

test("what waits for a webhook that does not answer any more is given back", async () => {
  enter(500, "a");
  const there = placeOf("a");
  there.limit = 4;
  await endOne("a");
  expect(ended).toHaveLength(500 - 64 - 32 + 1);
  // And so is all of it when that one is slow.
  there.quick = false;
  await endOne("a");
  expect(ended).toHaveLength(500 - 64 + 2);
});

test("all webhooks together hold no more in memory than a few thousand events, and each may have what it has places for", () => {
  for (let i = 0; i < 400; i += 1) {
    const id = `o${i}`;
    agenda.wake(id);
    enter(1, id);
  }
  let taken = 0;
  for (let rounds = 0; rounds < 200; rounds += 1)
    for (const [listingId, n] of desks.wishes(agenda, 256)) {
      taken += n;
      enter(n, listingId);
    }
  expect(desks.under).toBeLessThanOrEqual(2048);
  expect(taken + 400 - desks.under).toBeLessThanOrEqual(4096 + 256);
});

test("some of those that have nothing to do are forgotten when there are too many, the oldest first", async () => {
  for (let i = 0; i < 1000; i += 1) enter(1, `o${i}`);
  for (let i = 0; i < 500; i += 1) await endOne(`o${i}`);
  enter(1, "one-more");
  expect([...places.values()].filter(({ closed }) => closed).map(({ origin }) => origin)).toEqual(
    Array.from({ length: 100 }, (_, i) => `https://o${i}.example.com`),
  );
});

test("what waits goes where its listing has moved to", async () => {
  enter(100, "a", "old");
  enter(1, "a", "new");
  expect([desks.under, placeOf("old", "a").closed, placeOf("new", "a").busy]).toEqual([101, true, 37]);
  while (under.length > 0) await endOne("a");
  expect([desks.under, ended.length]).toEqual([0, 101]);
});
