import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Mailsvc } from "@mailsvc/sdk";
import { afterAll, expect, test } from "vitest";
import { startRedis } from "../packages/agent-kit/test/redis.ts";
import { seededRandom } from "../packages/server/src/lib/random.ts";
import { createDatabase, dropDatabases } from "../packages/server/test/postgres.ts";
import { cleanEnvironment } from "./dev-server.ts";
import { freePort } from "./support/free-port.ts";
import { chooseSeed, countKills, recordKills } from "./support/kills.ts";
import { recordCounts } from "./support/proof-counts.ts";
import { type ServerProcess, startServer } from "./support/server.ts";
import { type TestDatabase, testDatabases } from "./support/test-database.ts";

/** Kills of agents on each database; a tenth as many of its server. */
const KILLS = countKills(12);
/** Kills in one run: afterwards it may come to its end. */
const KILLS_OF_RUN = 6;
const STORES = ["sqlite", "file", "redis", "postgres"] as const;
const SCOPES = [
  ...(["agent:write_runs", "agent:post_messages", "agent:read_messages", "agent:consume_credits"] as const),
  ...(["agent:wakeups", "landing_pages:write"] as const),
];
const ADDED = "lists:read_metadata";
const PRICE = 5;
const PROGRAM = fileURLToPath(new URL("support/killed-agent.ts", import.meta.url));
const LEASE_MS = 500;

afterAll(dropDatabases);

const wait = (ms: number): Promise<void> => new Promise((next) => setTimeout(next, ms));

/** A server that is killed and comes back at the same address, with clients that try again until it is there. */
class MortalServer {
  readonly #database: TestDatabase;
  readonly #port: number;
  #process: ServerProcess | undefined;
  /** Time that it was moved to: a server that starts again begins with the machine's. */
  #moved = "";
  brand!: Mailsvc;
  builder!: Mailsvc;
  #apiKey = "";
  /** Settles once it listens. */
  #up = Promise.withResolvers<void>();

  constructor(database: TestDatabase, port: number) {
    this.#database = database;
    this.#port = port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const flags = ["--dev", "--port", String(this.#port), ...this.#database.flags];
    this.#process = startServer({ data: join(this.#database.folder, "data"), flags });
    const ready = await this.#process.ready();
    if (!ready?.apiKey || !ready.profiles) throw new Error(`The server did not start: ${this.#process.stderr()}`);
    const patient: typeof fetch = async (...request) => {
      await this.#up.promise;
      return fetch(...request);
    };
    const connect = (apiKey: string) => new Mailsvc({ apiKey, baseUrl: this.url, maxRetries: 8, fetch: patient });
    this.#apiKey = ready.apiKey;
    this.brand ??= connect(ready.apiKey);
    this.builder ??= connect(ready.profiles.builder.apiKey);
    if (this.#moved !== "") await this.#clock({ to: this.#moved });
    this.#up.resolve();
  }

  async advance(by: string): Promise<void> {
    this.#moved = (await this.#clock({ by })) ?? this.#moved;
  }

  /** Moves time, which never goes back; null when the server was gone. */
  async #clock(change: { by: string } | { to: string }): Promise<string | null> {
    try {
      const response = await fetch(`${this.url}/__dev/clock/advance`, {
        method: "POST",
        headers: { authorization: `Bearer ${this.#apiKey}`, "content-type": "application/json" },
        body: JSON.stringify(change),
      });
      return response.ok ? ((await response.json()) as { now: string }).now : null;
    } catch {
      return null;
    }
  }

  async kill(): Promise<void> {
    this.#up = Promise.withResolvers();
    expect(await this.#process?.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
  }
}

/** An agent over one store, whose process is killed and started again. */
class MortalAgent {
  readonly slug: string;
  readonly #env: Record<string, string | undefined>;
  #child: ChildProcess | undefined;
  #said = "";

  constructor(slug: string, env: Record<string, string>) {
    this.slug = slug;
    this.#env = { ...cleanEnvironment(), LEASE_MS: String(LEASE_MS), AGENT_MASTER_KEY: Buffer.alloc(32, 5).toString("base64"), ...env };
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [PROGRAM], { env: this.#env, stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    child.stderr.on("data", (text) => (this.#said += text));
    await new Promise<void>((listening, failed) => {
      child.stdout.once("data", () => listening());
      child.once("exit", () => failed(new Error(`${this.slug} did not start: ${this.#said}`)));
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await ended;
  }
}

/** A run over one activation, from the side of the brand, while its agent and the server are killed. */
async function performRound(server: MortalServer, agent: MortalAgent, { list, sends }: { list: string; sends: boolean }): Promise<void> {
  const { brand, builder } = server;
  const { slug } = agent;
  await builder.listings.update(slug, { permissions: [...SCOPES] });
  const activation = await brand.activations.create({
    agentSlug: slug,
    acceptedPermissions: [...SCOPES],
    settings: { tone: "warm", list },
  });
  const { id } = activation;
  const { version } = await builder.listings.update(slug, { permissions: [...SCOPES, ADDED] });
  await brand.activations.accept(id, { version });
  await brand.activations.update(id, { settings: { tone: "cool", list } });
  const isOver = async (): Promise<boolean> => {
    const [run] = (await brand.runs.list(id)).data;
    const said = await brand.messages.list(id, { limit: 100 });
    return (
      run !== undefined &&
      ["COMPLETED", "FAILED", "CANCELLED"].includes(run.status) &&
      ["Reported", "Settings", "Scopes"].every((word) => said.data.some(({ text }) => text.startsWith(word)))
    );
  };
  for (let looks = 0; !(await isOver()); looks += 1) {
    if (looks > 1500) throw new Error(`${slug} never came to its end: ${JSON.stringify((await brand.runs.list(id)).data)}`);
    // The same answer again, if the first one was given and its response lost.
    for (const { id: asked, approval } of (await brand.approvals.list({ activationId: id })).data)
      await brand.messages
        .answer(asked, {
          decision: "approve",
          ...(approval?.proposal && { hash: approval.proposal.hash, fromEmail: "news@acme.example", create: sends ? "send" : "draft" }),
        })
        .catch(() => {});
    const [run] = (await brand.runs.list(id)).data;
    // Time of a run that works is real: it would fail without heartbeats.
    if (run === undefined || run.status === "WAITING") await server.advance("11s");
    await wait(100);
  }
  await judge(brand, id, { sends });
  await brand.activations.deactivate(id);
}

/** Everything happened, and once. */
async function judge(brand: Mailsvc, id: string, { sends }: { sends: boolean }): Promise<void> {
  const runs = (await brand.runs.list(id)).data;
  expect(runs).toMatchObject([{ status: "COMPLETED", summary: "approved", creditsConsumed: PRICE, progress: { percent: 100 } }]);
  const logs = (await brand.runs.logs(id, runs[0]?.runId ?? "").toArray()).map(({ message }) => message).reverse();
  expect([logs[0], logs.slice(1, 4).sort(), logs.slice(4)]).toEqual([
    "begins",
    ["part a", "part b", "part c"],
    ["the campaign was approved"],
  ]);
  const messages = await brand.messages.list(id).toArray();
  expect(messages.map(({ type }) => type).sort()).toEqual([
    ...["APPROVAL_REQUEST", "APPROVAL_REQUEST", "APPROVAL_RESPONSE", "APPROVAL_RESPONSE"],
    ...["TEXT", "TEXT", "TEXT"],
  ]);
  expect(messages.flatMap(({ type, text }) => (type === "TEXT" ? [text] : [])).sort()).toEqual([
    "Reported: approved",
    `Scopes: ${ADDED}`,
    "Settings: cool",
  ]);
  const pages = await brand.landingPages.list({ activationId: id }).toArray();
  expect(pages).toMatchObject([{ status: "PUBLISHED" }]);
  const made = (await brand.campaigns.list({ limit: 100 }).toArray()).filter(({ name }) => name === `Launch ${id}`);
  expect(made).toHaveLength(1);
  const campaign = await brand.campaigns.get(made[0]?.id ?? "");
  expect(campaign).toMatchObject({
    html: `<p>Hello {{firstName}}, é 日本, ${id}</p>`,
    subjectLine: "We launch {{firstName}}",
    fromEmail: "news@acme.example",
    proposedBy: { activationId: id },
  });
  if (!sends) expect(campaign.status).toBe("DRAFT");
  else expect(["SENDING", "SENT"]).toContain(campaign.status);
}

test.each([
  ["SQLite", testDatabases.sqlite],
  ["Postgres", testDatabases.postgres],
] as const)(
  "%s: agents over four stores and their server, killed at any moment, end each run with all its effects, each once",
  { timeout: 240_000 + KILLS * 20_000 },
  async (name, open) => {
    const seed = chooseSeed();
    const random = seededRandom(seed).fraction;
    const database = await open();
    const redis = await startRedis();
    const ofStores = await createDatabase("empty");
    const server = new MortalServer(database, await freePort());
    const agents: MortalAgent[] = [];
    let [killed, killedServers, rounds] = [0, 0, 0];
    let over = false;
    const fail = new AbortController();
    try {
      await server.start();
      const { brand, builder } = server;
      await brand.contacts.create({ email: "reader@example.com", firstName: "Ada" });
      const list = (await brand.lists.create({ name: "Readers" })).id;
      await brand.lists.add(list, { contacts: ["reader@example.com"] });
      await brand.credits.grant({ amount: 1_000_000 });
      const at = {
        sqlite: join(database.folder, "agent.db"),
        file: join(database.folder, "agent.ndjson"),
        redis: `redis://127.0.0.1:${redis.port}`,
        postgres: ofStores.url,
      };
      for (const store of STORES) {
        const port = await freePort();
        const slug = `agent-${store}`;
        const { webhookSecret } = await builder.listings.create({
          slug,
          name: slug,
          webhookUrl: `http://127.0.0.1:${port}/`,
          permissions: [...SCOPES],
          settingsSchema: { type: "object", properties: { tone: { type: "string" }, list: { type: "string" } } },
        });
        await builder.payments.confirm((await builder.listings.checkout(slug)).id);
        const env = { PORT: String(port), STORE: store, STORE_AT: at[store], AGENT_WEBHOOK_SECRET: webhookSecret, MAILSVC_URL: server.url };
        const agent = new MortalAgent(slug, env);
        agents.push(agent);
        await agent.start();
      }
      const killServer = async (): Promise<void> => {
        while (!over) {
          const due = Math.ceil(killed / 10);
          if (killedServers >= due) await wait(20);
          else {
            await server.kill();
            killedServers += 1;
            await server.start();
          }
        }
      };
      const live = async (agent: MortalAgent): Promise<void> => {
        while (killed < KILLS) {
          let ended = false;
          const round = performRound(server, agent, { list, sends: random() < 0.5 }).finally(() => {
            ended = true;
          });
          // Its failure is that of the test; it is looked at below.
          round.catch(() => {});
          for (let n = 0; n < KILLS_OF_RUN && !ended && killed < KILLS; n += 1) {
            // Without squares half of the kills would come after the parts that are done at once.
            await wait(random() ** 2 * 1200);
            if (ended) break;
            await agent.kill();
            killed += 1;
            await agent.start();
          }
          await round;
          rounds += 1;
        }
      };
      const killing = killServer().catch((error: unknown) => fail.abort(error));
      await Promise.all(agents.map(live));
      over = true;
      await killing;
      fail.signal.throwIfAborted();
      expect(killedServers).toBeGreaterThanOrEqual(Math.floor(KILLS / 10) - 1);
      expect((await brand.credits.get()).balance).toBe(1_000_000 - rounds * PRICE);
      recordKills({
        suite: "runs of agents",
        database: name,
        seed,
        kills: killed + killedServers,
        acknowledged: rounds,
        missing: 0,
        repeated: 0,
        unlisted: null,
      });
      recordCounts({ agents: killed, servers: killedServers, runs: rounds });
    } finally {
      over = true;
      await Promise.all(agents.map((agent) => agent.kill()));
      await server.kill().catch(() => {});
      await redis.stop();
      await ofStores.drop();
      await database.clear();
    }
  },
);
