import { expect, test } from "vitest";
import { manualTime } from "../../test/manual-time.ts";
import { claimedJob, ScriptedStore } from "../../test/queue-scripted-store.ts";
import { silentLog } from "../lib/log.ts";
import { Claims, type Demand } from "./claims.ts";

const DEMAND: Demand = { slots: 4, batchSlots: (lane) => (lane === "mail" ? 1000 : 3), isBulkDue: true, overloaded: false };

function setUp(claimAhead = 0) {
  const store = new ScriptedStore();
  store.maxClaimAhead = claimAhead;
  const claims = new Claims(store, { clock: manualTime(), log: silentLog, drained: () => {} });
  claims.use(["work"]);
  return { store, claims };
}

test("each lane is asked for as much as has a slot, up to the size of a claim", async () => {
  const { store, claims } = setUp();
  await claims.claim(DEMAND);
  claims.refill();
  await claims.claim({ ...DEMAND, slots: 100, batchSlots: null });
  claims.refill();
  await claims.claim({ ...DEMAND, overloaded: true });
  expect(store.claims).toEqual([
    { default: 4, background: 0, mail: 256, bulk: 3 },
    { default: 32, background: 0, mail: 100, bulk: 100 },
    { default: 4, background: 0, mail: 16, bulk: 3 },
  ]);
});

test("jobs of the lane default wait for slots, and further ones are claimed when none waits", async () => {
  const { store, claims } = setUp(8);
  store.due = ["1", "2", "3"].map((id) => claimedJob(id)).concat(claimedJob("m", "mail"));
  expect((await claims.claim(DEMAND)).map(({ id }) => id)).toEqual(["m"]);
  claims.refill();
  expect(claims.isWorthwhile({ ...DEMAND, batchSlots: () => 0 })).toBe(false);
  expect(claims.takeAhead(2).map(({ id }) => id)).toEqual(["1", "2"]);
  expect(claims.takeAhead(-1)).toEqual([]);
  expect(claims.takeAhead().map(({ id }) => id)).toEqual(["3"]);
  expect(claims.isWorthwhile({ ...DEMAND, batchSlots: () => 0 })).toBe(true);
});

test("as many jobs are claimed ahead as began a moment ago, up to the limit of the store", async () => {
  const clock = manualTime();
  const store = new ScriptedStore();
  store.maxClaimAhead = 5;
  const claims = new Claims(store, { clock, log: silentLog, drained: () => {} });
  claims.use(["work"]);
  const claim = async (jobs: number): Promise<number | undefined> => {
    store.due = Array.from({ length: jobs }, (_, i) => claimedJob(String(i)));
    claims.refill();
    await claims.claim(DEMAND);
    claims.takeAhead();
    return store.claims.at(-1)?.default;
  };
  expect([await claim(3), await claim(20), await claim(0)]).toEqual([4, 4 + 3, 4 + 5]);
  await clock.advance(200);
  expect(await claim(0)).toBe(4);
});

test("nothing is claimed ahead while requests wait", async () => {
  const { store, claims } = setUp(100);
  store.due = [claimedJob("1")];
  await claims.claim(DEMAND);
  claims.takeAhead();
  claims.refill();
  await claims.claim({ ...DEMAND, overloaded: true });
  expect(store.claims[1]?.default).toBe(4);
});

test("a drained lane is left alone until a refill, and a refill during the claim counts", async () => {
  const { store, claims } = setUp();
  await claims.claim(DEMAND);
  expect(claims.isWorthwhile(DEMAND)).toBe(false);
  claims.refill();
  expect(claims.isWorthwhile(DEMAND)).toBe(true);
  let open = (): void => {};
  store.gate = new Promise((resolve) => {
    open = resolve;
  });
  const claim = claims.claim(DEMAND);
  claims.refill();
  open();
  await claim;
  expect(claims.isWorthwhile(DEMAND)).toBe(true);
});

test("jobs of kinds that this build does not know are set aside", async () => {
  const { store, claims } = setUp();
  store.due = [claimedJob("1"), { ...claimedJob("2"), kind: "old" }, { ...claimedJob("3", "mail"), kind: "old" }];
  expect(await claims.claim(DEMAND)).toEqual([]);
  expect(claims.takeAhead().map(({ id }) => id)).toEqual(["1"]);
  expect(store.setAsides).toEqual(["2", "3"]);
});

test("what makes bulk mail waits while some of that may be due, and the lane that is drained is told", async () => {
  const store = new ScriptedStore();
  const drained: string[] = [];
  const claims = new Claims(store, { clock: manualTime(), log: silentLog, drained: (lane) => void drained.push(lane) });
  claims.use(["work"]);
  await claims.claim(DEMAND);
  expect([claims.isDrained("bulk"), claims.isDrained("background"), drained]).toEqual([true, false, ["default", "mail", "bulk"]]);
  expect(claims.isWorthwhile(DEMAND)).toBe(false);
  const quiet = { ...DEMAND, isBulkDue: false };
  expect(claims.isWorthwhile(quiet)).toBe(true);
  store.due = [claimedJob("1", "background")];
  expect((await claims.claim(quiet)).map(({ id }) => id)).toEqual(["1"]);
  expect(store.claims.at(-1)).toEqual({ default: 0, background: 4, mail: 0, bulk: 0 });
});
