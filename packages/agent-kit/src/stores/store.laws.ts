import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Agent, createAgent } from "../agent.ts";
import { EventLog, type Lease } from "../event-log.ts";
import { sleep } from "../runtime.ts";
import { sampleEvent } from "../testing/sample-events.ts";
import { signedRequest } from "../testing/signed-request.ts";
import { createVault } from "../vault.ts";
import { type Store, update, withStoreErrors } from "./store.ts";

/** An empty store under test. */
interface StoreHarness {
  store: Store;
  /** Another handle of the same store, as another process has it; null if there can be only one. */
  other: Store | null;
  /** Returns the store as a later process finds it; null if nothing survives. */
  reopen(): Promise<Store | null>;
  close(): Promise<void>;
}

const WAIT = { timeout: 20_000 };
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const masterKey = Buffer.alloc(32, 1).toString("base64");
const newKey = Buffer.alloc(32, 2).toString("base64");
const held = (taken: Lease | number | string | null): Lease | null => (typeof taken === "object" ? taken : null);

/** The tests that every store passes. */
export function storeLaws(open: () => Promise<StoreHarness>): void {
  let harness: StoreHarness;
  let store: Store;
  let other: Store;
  beforeEach(async () => {
    harness = await open();
    store = harness.store;
    other = harness.other ?? store;
  });
  afterEach(() => harness.close());

  describe("values", () => {
    test("are set, replaced and removed, if they are what the caller thinks", async () => {
      expect(await store.get("a")).toBeNull();
      expect(await store.swap("a", "x", "y")).toBe(false);
      expect(await store.swap("a", null, "")).toBe(true);
      expect(await store.get("a")).toBe("");
      expect(await store.swap("a", null, "y")).toBe(false);
      expect(await store.swap("a", "", "y")).toBe(true);
      expect(await other.get("a")).toBe("y");
      expect(await store.swap("a", "", null)).toBe(false);
      expect(await other.swap("a", "y", null)).toBe(true);
      expect(await store.get("a")).toBeNull();
      expect(await store.swap("a", null, null)).toBe(true);
    });

    test("are texts of any characters and length, under any key", async () => {
      const texts = ["Ünïcödé ✉ 🚀", "quotes \" ' \\ and \n lines", "%_*?[]{}$1", JSON.stringify("\0"), "x".repeat(200_000)];
      for (const [i, text] of texts.entries()) expect(await store.swap(i === 4 ? "long" : `key ${text}`, null, text), text).toBe(true);
      for (const [i, text] of texts.entries()) expect(await other.get(i === 4 ? "long" : `key ${text}`)).toBe(text);
      for (const [i, text] of texts.entries()) expect(await other.swap(i === 4 ? "long" : `key ${text}`, text, "new")).toBe(true);
    });

    test("survive the process", async () => {
      await store.swap("kept", null, "1");
      await store.swap("removed", null, "1");
      await store.swap("removed", "1", null);
      await store.swap("fading", null, "1", 3_600_000);
      const later = await harness.reopen();
      if (later === null) return;
      expect([await later.get("kept"), await later.get("removed"), await later.get("fading")]).toEqual(["1", null, "1"]);
      expect(await later.list("")).toEqual(["kept"]);
      expect(await later.swap("kept", "1", "2")).toBe(true);
    });
  });

  describe("of writers at once", () => {
    test("one replaces a value, the others learn that they did not", async () => {
      const first = await Promise.all(Array.from({ length: 100 }, (_, i) => (i % 2 ? store : other).swap("a", null, `${i}`)));
      expect(first.filter(Boolean)).toHaveLength(1);
      expect(await store.get("a")).toBe(String(first.indexOf(true)));
      const from = String(first.indexOf(true));
      const second = await Promise.all(Array.from({ length: 100 }, (_, i) => (i % 2 ? store : other).swap("a", from, `next ${i}`)));
      expect(second.filter(Boolean)).toHaveLength(1);
      expect(await other.get("a")).toBe(`next ${second.indexOf(true)}`);
    });

    test("none loses an update", async () => {
      const increment = (handle: Store) => update(handle, "count", (text) => ({ to: String(Number(text ?? 0) + 1) }));
      await Promise.all(Array.from({ length: 40 }, (_, i) => increment(i % 2 ? store : other)));
      expect(await store.get("count")).toBe("40");
    });
  });

  describe("lists", () => {
    test("have the lasting keys of a prefix, in order", async () => {
      for (const key of ["b/2", "a/1", "b/10", "b/ü", "b", "c/1", "b0", "b/fading"])
        await store.swap(key, null, "x", key === "b/fading" ? 3_600_000 : undefined);
      expect(await other.list("b/")).toEqual(["b/10", "b/2", "b/ü"]);
      expect(await other.list("none")).toEqual([]);
      await store.swap("b/2", "x", "y", 3_600_000);
      await store.swap("b/fading", "x", "y");
      await store.swap("b/10", "x", null);
      expect(await other.list("b/")).toEqual(["b/fading", "b/ü"]);
    });
  });

  test("a value with a time to live goes, others stay, and its key can be used again", async () => {
    await store.swap("short", null, "x", 500);
    await store.swap("long", null, "x", 3_600_000);
    await store.swap("made lasting", null, "x", 500);
    await store.swap("made lasting", "x", "y");
    await vi.waitFor(async () => expect(await store.get("short")).toBeNull(), WAIT);
    expect([await store.get("long"), await store.get("made lasting")]).toEqual(["x", "y"]);
    expect(await other.swap("short", "x", "y")).toBe(false);
    expect(await other.swap("short", null, "z")).toBe(true);
    expect([await store.get("short"), (await store.list("")).includes("short")]).toEqual(["z", true]);
  });

  describe("the log of events", () => {
    /** Two processes on one store, whose clock goes on by `pass`. The clock of the second process is an hour ahead. */
    const logs = () => {
      let now = 1_000_000;
      const make = (handle: Store, ahead: number) => {
        const clock = { now: () => now + ahead, after: () => () => {} };
        return new EventLog({ store: withStoreErrors({ ...handle, now: async () => now }), clock, leaseMs: 1000, keepMs: 3_600_000 });
      };
      return { one: make(store, 0), two: make(other, 0), ahead: make(other, 3_600_000), pass: (ms: number) => (now += ms) };
    };
    const event = sampleEvent("test.ping");

    test("gives a claim to one, until it is completed, released or its lease ends", async () => {
      const { one, two, pass } = logs();
      const claims = await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 ? one : two).claim("a", event)));
      const [first] = claims.filter((claim) => typeof claim === "object");
      expect(claims.filter((claim) => claim === "busy")).toHaveLength(49);
      pass(900);
      expect(await first?.renew()).toBe(true);
      pass(900);
      expect(await two.claim("a", event)).toBe("busy");
      // The process crashed: it neither renews nor completes.
      pass(101);
      const second = await two.claim("a", event);
      expect(second).toMatchObject({ key: "a" });
      expect([await first?.renew(), await first?.complete(), await first?.release()]).toEqual([false, false, false]);
      expect(await one.claim("a", event)).toBe("busy");
      if (typeof second === "object") expect(await second.complete()).toBe(true);
      pass(10_000);
      expect([await one.claim("a", event), await two.claim("a", event)]).toEqual(["done", "done"]);
    });

    test("forgets a claim that is released", async () => {
      const { one, two } = logs();
      const first = await one.claim("a", event);
      if (typeof first === "object") expect(await first.release()).toBe(true);
      expect(await two.claim("a", event)).toMatchObject({ key: "a" });
    });

    test("keeps what is stored until it is done, also over a crash and a pause", async () => {
      const { one, two, pass } = logs();
      const puts = await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 ? one : two).put("a", event)));
      expect(puts.filter(Boolean)).toHaveLength(1);
      expect(await two.has("a")).toBe(true);
      const crashed = await one.take("a");
      expect([held(crashed)?.event, await two.take("a")]).toEqual([event, null]);
      pass(1000);
      expect(await two.listDue()).toEqual([{ key: "a", activationId: event.activationId }]);
      const failed = await two.take("a");
      expect(await held(crashed)?.complete()).toBe(false);
      expect(await held(failed)?.retry(5000, true)).toBe(true);
      expect(await one.take("a")).toBe(5000);
      pass(5000);
      const paused = await one.take("a");
      expect(held(paused)?.attempts).toBe(1);
      expect(await held(paused)?.park()).toBe(true);
      pass(100_000);
      expect([await one.take("a"), await one.listDue(), await one.wake("act_other")]).toEqual([null, [], 0]);
      expect(await two.wake(event.activationId)).toBe(1);
      const last = await two.take("a");
      expect(await held(last)?.complete()).toBe(true);
      expect([await one.take("a"), await one.put("a", event), await one.listDue()]).toEqual([null, false, []]);
    });

    test("gives an event to one process at a time, also when the clock of another one is ahead", async () => {
      const { one, ahead, pass } = logs();
      const claimed = held(await one.claim("claimed", event));
      await one.put("stored", event);
      const taken = held(await one.take("stored"));
      pass(900);
      expect([await ahead.claim("claimed", event), await ahead.take("stored"), await ahead.listDue()]).toEqual(["busy", null, []]);
      expect([await claimed?.renew(), await taken?.renew()]).toEqual([true, true]);
      pass(900);
      expect([await ahead.claim("claimed", event), await ahead.take("stored")]).toEqual(["busy", null]);
      expect([await claimed?.complete(), await taken?.complete()]).toEqual([true, true]);
    });

    test("keeps an event that was given up, until it is revived with all its attempts", async () => {
      const { one, two } = logs();
      await one.put("a", event);
      await held(await one.take("a"))?.retry(0, true);
      await held(await one.take("a"))?.bury("No.");
      expect(await two.listDead()).toMatchObject([{ key: "a", error: "No.", event, at: 1_000_000 }]);
      expect([await two.put("a", event), await two.take("a"), await two.claim("a", event), await two.listDue()]).toEqual([
        false,
        null,
        "done",
        [],
      ]);
      expect([await two.revive("a"), await two.revive("a"), await two.revive("other")]).toEqual([true, false, false]);
      expect(await one.listDead()).toEqual([]);
      expect(held(await one.take("a"))).toMatchObject({ event, attempts: 0 });
    });
  });

  test.each(["inline", "inbox"] as const)("100 deliveries of one event at once are one call of its handler (%s)", async (mode) => {
    const heard: string[] = [];
    const agents = [store, other].map((handle) =>
      createAgent({ secret, store: handle, masterKey, mode }).on("agent.activated", async ({ event }) => {
        heard.push(event.activationId);
        await sleep(20);
      }),
    );
    const { body, headers } = signedRequest(sampleEvent("agent.activated", { apiKey: "ms_agent_1" }), { secret });
    const replies = await Promise.all(Array.from({ length: 100 }, (_, i) => (agents[i % 2] as Agent).handle(body, headers)));
    // Deliveries during the handler's work get a 503, so they are sent again.
    expect(replies.filter(({ status }) => status !== 200 && !(mode === "inline" && status === 503))).toEqual([]);
    await vi.waitFor(() => expect(heard).toEqual(["act_sample"]), WAIT);
    for (const agent of agents) await agent.stop();
    expect((await (agents[1] as Agent).handle(body, headers)).body).toContain("duplicate");
    expect(heard).toEqual(["act_sample"]);
  });

  test("the clock of the store goes", async () => {
    const [before, after] = [await withStoreErrors(store).now(), await withStoreErrors(other).now()];
    expect(before).toBeGreaterThan(1.7e12);
    expect(after).toBeGreaterThanOrEqual(before);
  });

  describe("the vault", () => {
    test("keeps one key for each activation, encrypted", async () => {
      const [vault, elsewhere] = [createVault({ store, masterKey }), createVault({ store: other, masterKey })];
      await vault.save("act_1", "ms_agent_one");
      await vault.save("act_1", "ms_agent_one");
      await vault.save("act_2", "ms_agent_two");
      expect([await elsewhere.load("act_1"), await elsewhere.load("act_2"), await elsewhere.load("act_3")]).toEqual([
        "ms_agent_one",
        "ms_agent_two",
        null,
      ]);
      const stored = await Promise.all((await store.list("")).map((key) => store.get(key)));
      expect(stored).toHaveLength(2);
      expect(stored.join()).not.toContain("ms_agent");
      await elsewhere.remove("act_1");
      expect([await vault.load("act_1"), await vault.load("act_2")]).toEqual([null, "ms_agent_two"]);
    });

    test("changes to a new master key, and then does without the old one", async () => {
      await createVault({ store, masterKey }).save("act_1", "ms_agent_one");
      const both = createVault({ store: other, masterKey: [newKey, masterKey] });
      expect(await both.load("act_1")).toBe("ms_agent_one");
      await both.save("act_2", "ms_agent_two");
      const alone = createVault({ store, masterKey: newKey });
      await expect(alone.load("act_1")).rejects.toThrow("another master key");
      expect([await both.rotate(), await both.rotate()]).toEqual([1, 0]);
      expect([await alone.load("act_1"), await alone.load("act_2")]).toEqual(["ms_agent_one", "ms_agent_two"]);
    });

    test("does not open an entry that was changed, or moved to another activation", async () => {
      const vault = createVault({ store, masterKey });
      await vault.save("act_1", "ms_agent_one");
      const sealed = (await store.get("key/act_1")) as string;
      await store.swap("key/act_2", null, sealed);
      await expect(vault.load("act_2")).rejects.toThrow();
      await store.swap(
        "key/act_1",
        sealed,
        sealed.replace(/.$/, (last) => (last === "A" ? "Q" : "A")),
      );
      await expect(vault.load("act_1")).rejects.toThrow();
    });
  });
}
