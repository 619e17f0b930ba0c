import { createHmac } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Call } from "../packages/server/test/hook.ts";
import { dropDatabases } from "../packages/server/test/postgres.ts";
import { until } from "./support/api.ts";
import { afterCommit, beforeCommit, buildCrashingProgram, type CrashingProgram, type CrashPoint } from "./support/crashing-server.ts";
import { RestartableServer } from "./support/restartable-server.ts";
import { containsText, testDatabases } from "./support/test-database.ts";
import { Turns } from "./support/turns.ts";

let program: CrashingProgram;
beforeAll(async () => {
  program = await buildCrashingProgram();
});
afterAll(async () => {
  program.remove();
  await dropDatabases();
});

const MARKET = "/api/v1/marketplace";

// Statements of the transactions of these steps.
const ACTIVATION = 'insert into "activations"';
const KEY_ARRIVED = 'update "activations" set "key_delivered_at"';
const TURN = 'update "activations" set .*"pause_reasons"';
const END = 'update "activations" set .*"deactivation_reason"';
const CANCEL = 'update "listings" set .*"ended_at"';
const ROTATION = 'update "listings" set .*"next_secret"';
const CLAIM = '^update "webhook_streams" set (?=.*"claim" = )(?=.*"interrupted" = )';
const KEY_EVENT = '"type":"agent.activated"';

// Each step on one of the databases, in turn.
describe.each(Object.entries(testDatabases))("a server killed at steps (%s)", (name, open) => {
  const turns = new Turns(Object.keys(testDatabases).indexOf(name));
  let server: RestartableServer;
  let turn = 0;
  let slug = "";
  let secret = "";
  beforeAll(async () => {
    server = await RestartableServer.open(program.program, await open());
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    turn += 1;
    slug = `agent-${turn}`;
    server.hooks.script = () => 200;
    await server.revive();
    secret = await server.list(slug);
  });

  const signedWith = (call: Call | undefined, by: string, header = "x-service-signature"): boolean =>
    call !== undefined && call.headers[header] === createHmac("sha256", by).update(call.bytes).digest("hex");

  /** Turns the agent on while its webhook answers with this status, and waits until that was noted. Time stands still. */
  const refusedKey = async (status: number): Promise<string> => {
    await server.done("POST", "/__dev/clock/freeze", {});
    server.hooks.script = (_n, { event }) => (event.type === "agent.activated" ? status : 200);
    await server.activate(slug);
    const { id } = await server.activationOf(slug);
    const tries = async (): Promise<number> => {
      const [row] = await server.database.query<{ attempts: number }>(
        `SELECT attempts FROM webhook_events WHERE stream_id = '${id}' AND type = 'agent.activated'`,
      );
      return Number(row?.attempts);
    };
    await until(
      10,
      async () => (await tries()) === 1,
      async () => `${await tries()} attempts`,
    );
    server.hooks.script = () => 200;
    return id;
  };

  describe("of turning an agent on", () => {
    turns.test("before COMMIT: there is no activation, and the brand's repeat makes it", async () => {
      expect((await server.killed(beforeCommit(ACTIVATION), () => server.activate(slug))).result).toBeNull();
      expect(await server.activationsOf(slug)).toEqual([]);
      expect(await server.activate(slug)).toMatchObject({ status: 201, replayed: false });
      await server.settle();
      await server.judge(slug, 1);
    });

    test.each(
      turns.rows<[string, CrashPoint]>([
        ["after COMMIT", afterCommit(ACTIVATION)],
        ["before the answer is written", { at: "answer", having: [`^POST ${MARKET}/activations$`] }],
      ]),
    )("%s: the activation is there, and the brand's repeat is told of it", async (_step, order) => {
      expect((await server.killed(order, () => server.activate(slug))).result).toBeNull();
      const { id } = await server.activationOf(slug);
      expect(await server.activate(slug)).toMatchObject({ status: 201, replayed: true, body: { id } });
      await server.settle();
      expect((await server.activationOf(slug)).keyDeliveredAt).not.toBeNull();
      await server.judge(slug, 1);
    });

    test.each(
      turns.rows<[string, CrashPoint, number]>([
        ["before the event is claimed", { at: "statement", having: [CLAIM] }, 1],
        ["after the claim, before a byte is sent", { at: "request", having: [KEY_EVENT] }, 1],
        ["after the webhook's 2xx, before it is noted", beforeCommit(KEY_ARRIVED), 2],
      ]),
    )("%s: the same key comes when the server is back", async (_step, order, sent) => {
      const { came } = await server.killed(order, () => server.activate(slug));
      expect(server.keys(slug, came)).toHaveLength(sent - 1);
      expect(await server.activationOf(slug)).toMatchObject({ status: "active" });
      await server.settle();
      expect((await server.activationOf(slug)).keyDeliveredAt).not.toBeNull();
      await server.judge(slug, sent);
    });

    turns.test("after the request was sent, before the webhook answered: the same key comes once more", async () => {
      server.hooks.script = () => {
        server.hooks.script = () => 200;
        return () => void server.server.process.kill("SIGKILL");
      };
      const { came } = await server.killed(null, () => server.activate(slug));
      expect(server.keys(slug, came)).toHaveLength(1);
      await server.settle();
      await server.judge(slug, 2);
    });

    turns.test("after the 2xx was noted, before the next event: the key does not come again, and what follows does", async () => {
      let answer = (): void => {};
      server.hooks.script = (_n, { event }) =>
        event.type !== "agent.activated" ? 200 : (response) => void (answer = () => response.writeHead(200).end());
      await server.killed(afterCommit(KEY_ARRIVED), async () => {
        await server.activate(slug);
        await server.turn((await server.activationOf(slug)).id, "pause");
        await until(
          10,
          async () => server.keys(slug).length === 1,
          async () => "the key has not come",
        );
        answer();
      });
      const { id, keyDeliveredAt } = await server.activationOf(slug);
      expect(keyDeliveredAt).not.toBeNull();
      await server.settle();
      expect(server.types(id)).toEqual(["agent.activated", "agent.paused"]);
      await server.judge(slug, 1);
    });
  });

  describe("of pausing and resuming", () => {
    test.each(
      turns.rows<[string, CrashPoint, boolean]>([
        ["before COMMIT", beforeCommit(TURN), false],
        ["after COMMIT", afterCommit(TURN), true],
      ]),
    )("%s: a pause and its event are there together or not at all", async (_step, order, there) => {
      const id = await server.activated(slug);
      expect((await server.killed(order, () => server.turn(id, "pause"))).result).toBeNull();
      expect((await server.activationOf(slug)).status).toBe(there ? "paused" : "active");
      expect(await server.turn(id, "pause")).toMatchObject({ status: 200, replayed: there, body: { status: "paused" } });
      await server.settle();
      expect(server.types(id)).toEqual(["agent.activated", "agent.paused"]);
      await server.judge(slug, 1);
    });

    test.each(
      turns.rows<[string, CrashPoint, boolean]>([
        ["before COMMIT", beforeCommit(TURN), false],
        ["after COMMIT", afterCommit(TURN), true],
      ]),
    )("%s: so are its end and the event of that", async (_step, order, there) => {
      const id = await server.activated(slug);
      await server.turn(id, "pause");
      await server.settle();
      expect((await server.killed(order, () => server.turn(id, "resume"))).result).toBeNull();
      expect((await server.activationOf(slug)).status).toBe(there ? "active" : "paused");
      expect(await server.turn(id, "resume")).toMatchObject({ status: 200, replayed: there, body: { status: "active" } });
      await server.settle();
      expect(server.types(id)).toEqual(["agent.activated", "agent.paused", "agent.resumed"]);
      await server.judge(slug, 1);
    });

    test.each(
      turns.rows<[string, CrashPoint, boolean]>([
        ["before COMMIT", beforeCommit(TURN), false],
        ["after COMMIT", afterCommit(TURN), true],
      ]),
    )("%s of resuming an agent whose webhook had refused its key: the same key comes, before the rest", async (_step, order, there) => {
      const id = await refusedKey(410);
      await server.settle();
      expect((await server.activationOf(slug)).status).toBe("paused");
      expect((await server.killed(order, () => server.turn(id, "resume"))).result).toBeNull();
      expect(await server.turn(id, "resume")).toMatchObject({ status: 200, replayed: there });
      await server.settle();
      expect(server.types(id)).toEqual(["agent.activated", "agent.paused", "agent.activated", "agent.resumed"]);
      await server.judge(slug, 2);
    });

    turns.test("after an event was sent again by hand, before that is noted: the same key comes by itself", async () => {
      const id = await refusedKey(500);
      const { data } = await server.done<{ data: { id: string }[] }>("GET", `${MARKET}/listings/${slug}/deliveries?activationId=${id}`);
      const order = beforeCommit('update "webhook_events" set .*"last_at"');
      const again = `${MARKET}/listings/${slug}/deliveries/${data[0]?.id}/redeliver`;
      const { came } = await server.killed(order, () => server.ask("POST", again));
      expect(server.keys(slug, came)).toHaveLength(2);
      await server.settle();
      await server.judge(slug, 3);
    });
  });

  describe("of turning an agent off before its key had arrived", () => {
    turns.test("before COMMIT: the key comes", async () => {
      const id = await refusedKey(500);
      expect((await server.killed(beforeCommit(END), () => server.turn(id, "deactivate"))).result).toBeNull();
      expect((await server.activationOf(slug)).status).toBe("active");
      await server.settle();
      expect(server.types(id)).toEqual(["agent.activated", "agent.activated"]);
      expect(await server.turn(id, "deactivate")).toMatchObject({ status: 200, replayed: false });
      await server.settle();
      await server.judge(slug, 2);
    });

    turns.test("after COMMIT: the key is gone, and nothing but its end is told", async () => {
      const id = await refusedKey(500);
      expect((await server.killed(afterCommit(END), () => server.turn(id, "deactivate"))).result).toBeNull();
      expect(await server.turn(id, "deactivate")).toMatchObject({ status: 200, replayed: true, body: { status: "deactivated" } });
      await server.settle();
      expect(server.types(id)).toEqual(["agent.activated", "agent.deactivated"]);
      await server.judge(slug, 1);
    });
  });

  describe("of a new webhook secret", () => {
    test.each(
      turns.rows<[string, CrashPoint, boolean]>([
        ["before COMMIT", beforeCommit(ROTATION), false],
        ["after COMMIT", afterCommit(ROTATION), true],
      ]),
    )("%s: both sign, and a repeat tells the new one", async (_step, order, there) => {
      const id = await server.activated(slug);
      const rotate = () =>
        server.ask<{ webhookSecret: string }>("POST", `${MARKET}/listings/${slug}/webhook-secret/rotate`, { overlapSeconds: 3600 }, slug);
      expect((await server.killed(order, rotate)).result).toBeNull();
      const repeated = await rotate();
      expect(repeated).toMatchObject({ status: 200, replayed: there });
      const next = repeated?.body.webhookSecret ?? "";
      expect(next).not.toBe(secret);
      await server.turn(id, "pause");
      await server.settle();
      expect(signedWith(server.hooks.calls.at(-1), secret)).toBe(true);
      expect(signedWith(server.hooks.calls.at(-1), next, "x-service-signature-next")).toBe(true);
      await server.advance("2h");
      await server.turn(id, "resume");
      await server.settle();
      expect(server.types(id).at(-1)).toBe("agent.resumed");
      expect(signedWith(server.hooks.calls.at(-1), next)).toBe(true);
      expect(server.hooks.calls.at(-1)?.headers["x-service-signature-next"]).toBeUndefined();
      const stored = await server.database.bytes();
      expect([secret, next].map((text) => containsText(stored, text))).toEqual([false, false]);
      await server.judge(slug, 1);
    });
  });

  describe("of the end of a listing", () => {
    const COPIES = 600;
    const cancel = () => server.ask("POST", `${MARKET}/listings/${slug}/cancel`, undefined, `cancel-${slug}`);

    /** Counts the activations told, and the events in all. */
    const told = (): [number, number] => {
      const ends = server.hooks.calls.filter(({ event }) => event.type === "agent.deactivated");
      return [new Set(ends.map(({ event }) => event.activationId)).size, ends.length];
    };

    const ended = async (before: number): Promise<void> => {
      await until(
        30,
        async () => {
          await server.settle();
          return told()[0] - before >= COPIES + 1;
        },
        async () => `${told()[0] - before} of ${COPIES + 1} were told`,
      );
    };

    turns.test("before COMMIT of the cancel: nobody is told, and keys that were on their way come", async () => {
      const id = await refusedKey(500);
      expect((await server.killed(beforeCommit(CANCEL), cancel)).result).toBeNull();
      await server.settle();
      expect(await server.activationOf(slug)).toMatchObject({ status: "active" });
      expect(server.types(id)).toEqual(["agent.activated", "agent.activated"]);
      await server.judge(slug, 2);
    });

    turns.test("after COMMIT of the cancel: every activation has ended though nobody was told, and no key comes any more", async () => {
      const id = await refusedKey(500);
      expect((await server.killed(afterCommit(CANCEL), cancel)).result).toBeNull();
      expect(await server.activationOf(slug)).toMatchObject({ status: "deactivated" });
      expect(await cancel()).toMatchObject({ status: 200, replayed: true });
      await server.settle();
      expect(server.types(id)).toEqual(["agent.activated", "agent.deactivated"]);
      await server.judge(slug, 1);
    });

    test.each(
      turns.rows<[string, CrashPoint]>([
        ["after COMMIT of the first agents", afterCommit(END)],
        ["before COMMIT of further ones", beforeCommit(END, 2)],
      ]),
    )("%s: the rest is told when the server is back, each with one event", async (_step, order) => {
      const id = await server.activated(slug);
      await server.copyActivation(id, COPIES);
      const [already] = told();
      await server.killed(order, cancel);
      await ended(already);
      const [all] = told();
      expect(all - already).toBe(COPIES + 1);
      const ids = new Set(server.hooks.calls.filter(({ event }) => event.type === "agent.deactivated").map(({ event }) => event.id));
      expect(ids.size).toBe(all);
      await server.judge(slug, 1);
    });
  });

  test("whatever happened, none of the keys that had arrived came again", async () => {
    await server.advance("48h");
    await server.settle();
    server.judgeAll();
    expect(await server.server.process.kill("SIGTERM"), server.server.process.stderr()).toEqual({ code: 0, signal: null });
    await server.start();
    await server.settle();
    server.judgeAll();
  });
});
