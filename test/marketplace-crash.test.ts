import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { seededRandom } from "../packages/server/src/lib/random.ts";
import { hook } from "../packages/server/test/hook.ts";
import { dropDatabases } from "../packages/server/test/postgres.ts";
import { type Api, all, call, until } from "./support/api.ts";
import { chooseSeed, countKills, recordKills } from "./support/kills.ts";
import { type ServerProcess, startServer } from "./support/server.ts";
import { testDatabases } from "./support/test-database.ts";

// Each named step has its own test in marketplace-steps.test.ts; here is what nobody thought of.
const ROUNDS = countKills(4);
const AGENTS = 12;

interface Activation {
  id: string;
  status: string;
  keyDeliveredAt: string | null;
}

const wait = (ms: number): Promise<void> => new Promise((next) => setTimeout(next, ms));

afterAll(dropDatabases);

test.each([
  ["SQLite", testDatabases.sqlite],
  ["Postgres", testDatabases.postgres],
] as const)(
  "%s: killed at any moment, a server gives each agent one key, at least once, and not again once it knows that it arrived",
  {
    timeout: 120_000 + ROUNDS * 20_000,
  },
  async (name, open) => {
    const seed = chooseSeed();
    const random = seededRandom(seed).fraction;
    const database = await open();

    /** The keys each activation was sent, in their order. */
    const keys = new Map<string, string[]>();
    await using hooks = await hook((_n, { event }) => {
      if (event.type === "agent.activated") keys.set(event.activationId, [...(keys.get(event.activationId) ?? []), event.apiKey]);
      const chance = random();
      if (chance < 0.15) return 500;
      // The answer is lost, or comes late: the agent has its key, and the server cannot know.
      if (chance < 0.3) return (_response, request) => void request.socket.destroy();
      if (chance < 0.6) return (response) => void setTimeout(() => response.writeHead(200).end(), random() * 20);
      return 200;
    });
    let running: ServerProcess | undefined;
    const start = async (): Promise<Api> => {
      running = startServer({ data: join(database.folder, "data"), flags: ["--dev", ...database.flags] });
      const ready = await running.ready();
      if (!ready?.apiKey) throw new Error(`The server did not start: ${running.stderr()}`);
      return { url: ready.url, apiKey: ready.apiKey };
    };
    /** Keys each activation had been sent when a server said that it had arrived. */
    const settledWith = new Map<string, number>();
    const acknowledged = async (api: Api): Promise<Activation[]> => {
      const activations = await all<Activation>(api, "/api/v1/marketplace/activations");
      for (const { id, keyDeliveredAt } of activations)
        if (keyDeliveredAt !== null && !settledWith.has(id)) settledWith.set(id, keys.get(id)?.length ?? 0);
      return activations;
    };

    try {
      const made: string[] = [];
      let api = await start();
      await call(api, "POST", "/api/v1/marketplace/plan", { plan: "scale" });
      const slugs = Array.from({ length: AGENTS }, (_, i) => `agent-${i}`);
      for (const slug of slugs) {
        await call(api, "POST", "/api/v1/marketplace/listings", { slug, name: slug, webhookUrl: hooks.url, permissions: [] });
        const payment = await call<{ id: string }>(api, "POST", `/api/v1/marketplace/listings/${slug}/checkout`);
        await call(api, "POST", `/api/v1/marketplace/payments/${payment.id}/confirm`);
      }
      for (let round = 0; round < ROUNDS; round += 1) {
        if (round > 0) api = await start();
        await acknowledged(api);
        const on = api;
        /** Calls of this round that have their answer. */
        let answers = 0;
        const change = async <T>(path: string, body?: unknown): Promise<T> => {
          const answer = await call<T>(on, "POST", `/api/v1/marketplace/activations${path}`, body);
          answers += 1;
          return answer;
        };
        // Agents are turned on, paused, resumed and off again, all at once, until the server dies under it.
        const work = slugs.map(async (agentSlug) => {
          try {
            const living = (await all<Activation>(on, `/api/v1/marketplace/activations?agentSlug=${agentSlug}`)).find(
              ({ status }) => status !== "deactivated",
            );
            if (living && random() < 0.5) await change(`/${living.id}/deactivate`);
            if (living && random() < 0.5) {
              await change(`/${living.id}/pause`);
              await change(`/${living.id}/resume`);
            }
            made.push((await change<Activation>("", { agentSlug, acceptedPermissions: [] })).id);
          } catch {
            // Refused, or the server was gone.
          }
        });
        // By what has happened, not by time alone: a busy machine would do nothing but start.
        const enough = Math.floor(random() * AGENTS * 1.5);
        let over = false;
        const ended = Promise.all(work).then(() => {
          over = true;
        });
        while (answers < enough && !over) await wait(5);
        await wait(random() * 10);
        expect(await running?.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
        await ended;
      }

      hooks.script = (_n, { event }) => {
        if (event.type === "agent.activated") keys.set(event.activationId, [...(keys.get(event.activationId) ?? []), event.apiKey]);
        return 200;
      };
      api = await start();
      const open = async (): Promise<number> => {
        const counts = await Promise.all(
          slugs.flatMap((slug) =>
            ["pending", "queued"].map((state) => all(api, `/api/v1/marketplace/listings/${slug}/deliveries?state=${state}`)),
          ),
        );
        return counts.reduce((sum, some) => sum + some.length, 0);
      };
      await until(
        60,
        async () => {
          await call(api, "POST", "/__dev/clock/advance", { by: "10m" });
          return (await open()) === 0;
        },
        async () => `${await open()} events are on their way`,
      );
      const activations = await acknowledged(api);
      await call(api, "POST", "/__dev/clock/advance", { by: "48h" });
      expect(await running?.kill("SIGTERM"), running?.stderr()).toEqual({ code: 0, signal: null });

      const known = new Set(activations.map(({ id }) => id));
      const missing = made.filter((id) => !known.has(id)).length;
      const repeated = activations.filter(({ id }) => (keys.get(id)?.length ?? 0) > 1).length;
      recordKills({
        suite: "activations of agents",
        database: name,
        seed,
        kills: ROUNDS,
        acknowledged: made.length,
        missing,
        repeated,
        unlisted: null,
      });
      expect(activations.length).toBeGreaterThan(0);
      expect(missing).toBe(0);
      // One value each, and no two alike.
      const values = [...keys].map(([id, sent]) => ({ id, values: new Set(sent).size }));
      expect(values.filter((one) => one.values !== 1)).toEqual([]);
      expect(new Set([...keys.values()].flat()).size).toBe(keys.size);
      // At least once, unless it ended before that.
      expect(activations.filter(({ id, status }) => status !== "deactivated" && !keys.has(id))).toEqual([]);
      expect(activations.filter(({ status, keyDeliveredAt }) => status === "active" && keyDeliveredAt === null)).toEqual([]);
      // Not again, once the server knew.
      expect([...settledWith].filter(([id, sent]) => keys.get(id)?.length !== sent)).toEqual([]);

      const { query } = database;
      if (name === "SQLite") expect(await query("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
      expect(await query("SELECT id FROM webhook_events WHERE sealed IS NOT NULL")).toEqual([]);
      expect(await query("SELECT stream_id FROM webhook_streams WHERE claim IS NOT NULL OR due_at IS NOT NULL")).toEqual([]);
      // Every activation's events are numbered without a gap.
      const gaps = "SELECT stream_id FROM webhook_events GROUP BY stream_id HAVING count(*) <> max(sequence) OR min(sequence) <> 1";
      expect(await query(gaps)).toEqual([]);
    } finally {
      await running?.kill("SIGKILL");
      await database.clear();
    }
  },
);
