import { createHmac } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Call } from "../packages/server/test/hook.ts";
import { dropDatabases } from "../packages/server/test/postgres.ts";
import { until } from "./support/api.ts";
import { afterCommit, beforeCommit, buildDoomed, type DoomedProgram, type Order } from "./support/doomed-server.ts";
import { grounds, holds } from "./support/ground.ts";
import { Stage } from "./support/stage.ts";

let doomed: DoomedProgram;
beforeAll(async () => {
  doomed = await buildDoomed();
});
afterAll(async () => {
  doomed.remove();
  await dropDatabases();
});

const MARKET = "/api/v1/marketplace";

// What the transactions of these steps write.
const ACTIVATION = 'insert into "activations"';
const KEY_ARRIVED = 'update "activations" set "key_delivered_at"';
const TURN = 'update "activations" set .*"pause_reasons"';
const END = 'update "activations" set .*"deactivation_reason"';
const CANCEL = 'update "listings" set .*"ended_at"';
const ROTATION = 'update "listings" set .*"next_secret"';
const CLAIM = '^update "webhook_streams" set .*"claim".* in \\(select "stream_id"';
const KEY_EVENT = '"type":"agent.activated"';

describe.each(Object.keys(grounds))("a server killed at each step (%s)", (kind) => {
  let stage: Stage;
  let scene = 0;
  let slug = "";
  let secret = "";
  beforeAll(async () => {
    stage = await Stage.open(doomed.program, await (grounds[kind] as () => ReturnType<(typeof grounds)[string]>)());
  });
  afterAll(() => stage.close());
  beforeEach(async () => {
    scene += 1;
    slug = `agent-${scene}`;
    stage.hooks.script = () => 200;
    await stage.revive();
    secret = await stage.list(slug);
  });

  const signedWith = (call: Call | undefined, by: string): boolean =>
    call !== undefined && call.headers["x-service-signature"] === createHmac("sha256", by).update(call.bytes).digest("hex");

  /** Turns the agent on while its webhook answers with this status, and waits until that was noted. Time stands still. */
  const refusedKey = async (status: number): Promise<string> => {
    await stage.done("POST", "/__dev/clock/freeze", {});
    stage.hooks.script = (_n, { event }) => (event.type === "agent.activated" ? status : 200);
    await stage.activate(slug);
    const { id } = await stage.activationOf(slug);
    const tries = async (): Promise<number> => {
      const [row] = await stage.ground.query<{ attempts: number }>(
        `SELECT attempts FROM webhook_events WHERE stream_id = '${id}' AND type = 'agent.activated'`,
      );
      return Number(row?.attempts);
    };
    await until(
      10,
      async () => (await tries()) === 1,
      async () => `${await tries()} attempts`,
    );
    stage.hooks.script = () => 200;
    return id;
  };

  describe("of turning an agent on", () => {
    test("before COMMIT: there is no activation, and the brand's repeat makes it", async () => {
      expect((await stage.killed(beforeCommit(ACTIVATION), () => stage.activate(slug))).result).toBeNull();
      expect(await stage.activationsOf(slug)).toEqual([]);
      expect(await stage.activate(slug)).toMatchObject({ status: 201, replayed: false });
      await stage.settle();
      await stage.judge(slug, 1);
    });

    test.each<[string, Order]>([
      ["after COMMIT", afterCommit(ACTIVATION)],
      ["before the answer is written", { at: "answer", having: [`^POST ${MARKET}/activations$`] }],
    ])("%s: the activation is there, and the brand's repeat is told of it", async (_step, order) => {
      expect((await stage.killed(order, () => stage.activate(slug))).result).toBeNull();
      const { id } = await stage.activationOf(slug);
      expect(await stage.activate(slug)).toMatchObject({ status: 201, replayed: true, body: { id } });
      await stage.settle();
      expect((await stage.activationOf(slug)).keyDeliveredAt).not.toBeNull();
      await stage.judge(slug, 1);
    });

    test.each<[string, Order, number]>([
      ["before the event is claimed", { at: "statement", having: [CLAIM] }, 1],
      ["after the claim, before a byte is sent", { at: "request", having: [KEY_EVENT] }, 1],
      ["after the webhook's 2xx, before it is noted", beforeCommit(KEY_ARRIVED), 2],
    ])("%s: the same key comes when the server is back", async (_step, order, sent) => {
      const { came } = await stage.killed(order, () => stage.activate(slug));
      expect(stage.keys(slug, came)).toHaveLength(sent - 1);
      expect(await stage.activationOf(slug)).toMatchObject({ status: "active" });
      await stage.settle();
      expect((await stage.activationOf(slug)).keyDeliveredAt).not.toBeNull();
      await stage.judge(slug, sent);
    });

    test("after the request was sent, before the webhook answered: the same key comes once more", async () => {
      stage.hooks.script = () => {
        stage.hooks.script = () => 200;
        return () => void stage.server.process.kill("SIGKILL");
      };
      const { came } = await stage.killed(null, () => stage.activate(slug));
      expect(stage.keys(slug, came)).toHaveLength(1);
      await stage.settle();
      await stage.judge(slug, 2);
    });

    test("after the 2xx was noted, before the next event: the key does not come again, and what follows does", async () => {
      let answer = (): void => {};
      stage.hooks.script = (_n, { event }) =>
        event.type !== "agent.activated" ? 200 : (response) => void (answer = () => response.writeHead(200).end());
      await stage.killed(afterCommit(KEY_ARRIVED), async () => {
        await stage.activate(slug);
        await stage.turn((await stage.activationOf(slug)).id, "pause");
        await until(
          10,
          async () => stage.keys(slug).length === 1,
          async () => "the key has not come",
        );
        answer();
      });
      const { id, keyDeliveredAt } = await stage.activationOf(slug);
      expect(keyDeliveredAt).not.toBeNull();
      await stage.settle();
      expect(stage.types(id)).toEqual(["agent.activated", "agent.paused"]);
      await stage.judge(slug, 1);
    });
  });

  describe("of pausing and resuming", () => {
    test.each<[string, Order, boolean]>([
      ["before COMMIT", beforeCommit(TURN), false],
      ["after COMMIT", afterCommit(TURN), true],
    ])("%s: a pause and its event are there together or not at all", async (_step, order, there) => {
      const id = await stage.activated(slug);
      expect((await stage.killed(order, () => stage.turn(id, "pause"))).result).toBeNull();
      expect((await stage.activationOf(slug)).status).toBe(there ? "paused" : "active");
      expect(await stage.turn(id, "pause")).toMatchObject({ status: 200, replayed: there, body: { status: "paused" } });
      await stage.settle();
      expect(stage.types(id)).toEqual(["agent.activated", "agent.paused"]);
      await stage.judge(slug, 1);
    });

    test.each<[string, Order, boolean]>([
      ["before COMMIT", beforeCommit(TURN), false],
      ["after COMMIT", afterCommit(TURN), true],
    ])("%s: so are its end and the event of that", async (_step, order, there) => {
      const id = await stage.activated(slug);
      await stage.turn(id, "pause");
      await stage.settle();
      expect((await stage.killed(order, () => stage.turn(id, "resume"))).result).toBeNull();
      expect((await stage.activationOf(slug)).status).toBe(there ? "active" : "paused");
      expect(await stage.turn(id, "resume")).toMatchObject({ status: 200, replayed: there, body: { status: "active" } });
      await stage.settle();
      expect(stage.types(id)).toEqual(["agent.activated", "agent.paused", "agent.resumed"]);
      await stage.judge(slug, 1);
    });

    test.each<[string, Order, boolean]>([
      ["before COMMIT", beforeCommit(TURN), false],
      ["after COMMIT", afterCommit(TURN), true],
    ])("%s of resuming an agent whose webhook had refused its key: the same key comes, before the rest", async (_step, order, there) => {
      const id = await refusedKey(410);
      await stage.settle();
      expect((await stage.activationOf(slug)).status).toBe("paused");
      expect((await stage.killed(order, () => stage.turn(id, "resume"))).result).toBeNull();
      expect(await stage.turn(id, "resume")).toMatchObject({ status: 200, replayed: there });
      await stage.settle();
      expect(stage.types(id)).toEqual(["agent.activated", "agent.paused", "agent.activated", "agent.resumed"]);
      await stage.judge(slug, 2);
    });

    test("after an event was sent again by hand, before that is noted: the same key comes by itself", async () => {
      const id = await refusedKey(500);
      const { data } = await stage.done<{ data: { id: string }[] }>("GET", `${MARKET}/listings/${slug}/deliveries?activationId=${id}`);
      const order = beforeCommit('update "webhook_events" set .*"last_at"');
      const again = `${MARKET}/listings/${slug}/deliveries/${data[0]?.id}/redeliver`;
      const { came } = await stage.killed(order, () => stage.ask("POST", again));
      expect(stage.keys(slug, came)).toHaveLength(2);
      await stage.settle();
      await stage.judge(slug, 3);
    });
  });

  describe("of turning an agent off before its key had arrived", () => {
    test("before COMMIT: the key comes", async () => {
      const id = await refusedKey(500);
      expect((await stage.killed(beforeCommit(END), () => stage.turn(id, "deactivate"))).result).toBeNull();
      expect((await stage.activationOf(slug)).status).toBe("active");
      await stage.settle();
      expect(stage.types(id)).toEqual(["agent.activated", "agent.activated"]);
      expect(await stage.turn(id, "deactivate")).toMatchObject({ status: 200, replayed: false });
      await stage.settle();
      await stage.judge(slug, 2);
    });

    test("after COMMIT: the key is gone, and nothing but its end is told", async () => {
      const id = await refusedKey(500);
      expect((await stage.killed(afterCommit(END), () => stage.turn(id, "deactivate"))).result).toBeNull();
      expect(await stage.turn(id, "deactivate")).toMatchObject({ status: 200, replayed: true, body: { status: "deactivated" } });
      await stage.settle();
      expect(stage.types(id)).toEqual(["agent.activated", "agent.deactivated"]);
      await stage.judge(slug, 1);
    });
  });

  describe("of a new webhook secret", () => {
    test.each<[string, Order, boolean]>([
      ["before COMMIT", beforeCommit(ROTATION), false],
      ["after COMMIT", afterCommit(ROTATION), true],
    ])("%s: the old one signs, and a repeat tells the one that takes over", async (_step, order, there) => {
      const id = await stage.activated(slug);
      const rotate = () =>
        stage.ask<{ webhookSecret: string }>("POST", `${MARKET}/listings/${slug}/webhook-secret/rotate`, { overlapSeconds: 3600 }, slug);
      expect((await stage.killed(order, rotate)).result).toBeNull();
      const repeated = await rotate();
      expect(repeated).toMatchObject({ status: 200, replayed: there });
      const next = repeated?.body.webhookSecret ?? "";
      expect(next).not.toBe(secret);
      await stage.turn(id, "pause");
      await stage.settle();
      expect(signedWith(stage.hooks.calls.at(-1), secret)).toBe(true);
      await stage.advance("2h");
      await stage.turn(id, "resume");
      await stage.settle();
      expect(stage.types(id).at(-1)).toBe("agent.resumed");
      expect(signedWith(stage.hooks.calls.at(-1), next)).toBe(true);
      const stored = await stage.ground.bytes();
      expect([secret, next].map((text) => holds(stored, text))).toEqual([false, false]);
      await stage.judge(slug, 1);
    });
  });

  describe("of the end of a listing", () => {
    const CROWD = 600;
    const cancel = () => stage.ask("POST", `${MARKET}/listings/${slug}/cancel`, undefined, `cancel-${slug}`);

    /** How many have been told, each counted once, and how often that was in all. */
    const told = (): [number, number] => {
      const ends = stage.hooks.calls.filter(({ event }) => event.type === "agent.deactivated");
      return [new Set(ends.map(({ event }) => event.activationId)).size, ends.length];
    };

    const ended = async (before: number): Promise<void> => {
      await until(
        30,
        async () => {
          await stage.settle();
          return told()[0] - before >= CROWD + 1;
        },
        async () => `${told()[0] - before} of ${CROWD + 1} were told`,
      );
    };

    test("before COMMIT of the cancel: nobody is told, and keys that were on their way come", async () => {
      const id = await refusedKey(500);
      expect((await stage.killed(beforeCommit(CANCEL), cancel)).result).toBeNull();
      await stage.settle();
      expect(await stage.activationOf(slug)).toMatchObject({ status: "active" });
      expect(stage.types(id)).toEqual(["agent.activated", "agent.activated"]);
      await stage.judge(slug, 2);
    });

    test("after COMMIT of the cancel: every activation has ended though nobody was told, and no key comes any more", async () => {
      const id = await refusedKey(500);
      expect((await stage.killed(afterCommit(CANCEL), cancel)).result).toBeNull();
      expect(await stage.activationOf(slug)).toMatchObject({ status: "deactivated" });
      expect(await cancel()).toMatchObject({ status: 200, replayed: true });
      await stage.settle();
      expect(stage.types(id)).toEqual(["agent.activated", "agent.deactivated"]);
      await stage.judge(slug, 1);
    });

    test.each<[string, Order]>([
      ["after COMMIT of the first agents", afterCommit(END)],
      ["before COMMIT of further ones", beforeCommit(END, 2)],
    ])("%s: the rest is told when the server is back, each with one event", async (_step, order) => {
      const id = await stage.activated(slug);
      await stage.crowd(id, CROWD);
      const [already] = told();
      await stage.killed(order, cancel);
      await ended(already);
      const [all] = told();
      expect(all - already).toBe(CROWD + 1);
      const ids = new Set(stage.hooks.calls.filter(({ event }) => event.type === "agent.deactivated").map(({ event }) => event.id));
      expect(ids.size).toBe(all);
      await stage.judge(slug, 1);
    });
  });

  test("whatever happened, none of the keys that had arrived came again", async () => {
    await stage.advance("48h");
    await stage.settle();
    stage.judgeAll();
    expect(await stage.server.process.kill("SIGTERM"), stage.server.process.stderr()).toEqual({ code: 0, signal: null });
    await stage.start();
    await stage.settle();
    stage.judgeAll();
  });
});
