import { expect } from "vitest";
import { type Hook, hook } from "../../packages/server/test/hook.ts";
import { until } from "./api.ts";
import { type CrashingServer, type CrashPoint, startCrashingServer } from "./crashing-server.ts";
import { containsText, copiesOf, type TestDatabase } from "./test-database.ts";

/** An answer, and whether it was kept from before. */
export interface Answered<T> {
  readonly status: number;
  readonly body: T;
  readonly replayed: boolean;
}

interface ShownActivation {
  id: string;
  status: string;
  keyDeliveredAt: string | null;
}

const MARKET = "/api/v1/marketplace";
// A step that is not met by then is not met at all.
const KILLED_WITHIN_MS = 120_000;

/** A server that is killed and started again on one database, with a webhook that records every event. */
export class RestartableServer {
  readonly database: TestDatabase;
  readonly hooks: Hook;
  readonly #program: string;
  #server: CrashingServer | null = null;
  /** The bytes of the database after each kill in this test; null in tests that do not search it for keys. */
  #databases: Buffer[] | null = null;
  /** Everything the server printed or answered in this test. */
  #said: string[] = [];
  /** Time the clock was moved to, ISO 8601: a server that starts again begins with the machine's. */
  #moved = "";
  /** Number of sends with each key at the end of its test. */
  readonly #sent = new Map<string, number>();

  static async open(program: string, database: TestDatabase): Promise<RestartableServer> {
    const server = new RestartableServer(program, database, await hook());
    await server.start();
    await server.done("POST", `${MARKET}/plan`, { plan: "scale" });
    return server;
  }

  private constructor(program: string, database: TestDatabase, hooks: Hook) {
    this.#program = program;
    this.database = database;
    this.hooks = hooks;
  }

  get server(): CrashingServer {
    if (this.#server === null) throw new Error("No server runs.");
    return this.#server;
  }

  async start(): Promise<void> {
    const { folder, flags } = this.database;
    this.#server = await startCrashingServer({ program: this.#program, folder, flags: ["--dev", ...flags] });
    const { now } = await this.done<{ now: string }>("GET", "/__dev/clock");
    if (now < this.#moved) await this.done("POST", "/__dev/clock/advance", { to: this.#moved });
  }

  /** Starts the server if a failed test left it stopped. */
  async revive(): Promise<void> {
    const { child } = this.server.process;
    if (child.signalCode !== null || child.exitCode !== null) await this.start();
  }

  async close(): Promise<void> {
    await this.#server?.process.kill("SIGKILL");
    await this.hooks[Symbol.asyncDispose]();
    await this.database.clear();
  }

  /** One call, under an Idempotency-Key if it has one; null when the server died before it had answered. */
  async ask<T>(method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<Answered<T> | null> {
    const { url, apiKey } = this.server.api;
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      this.#said.push(text);
      return { status: response.status, body: JSON.parse(text) as T, replayed: response.headers.get("idempotency-replayed") === "true" };
    } catch {
      return null;
    }
  }

  /** A call that must succeed. */
  async done<T>(method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<T> {
    const answered = await this.ask<T>(method, path, body, idempotencyKey);
    if (answered === null || answered.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answered)}`);
    return answered.body;
  }

  /** Begins a test: makes a listing, pays for it and returns its webhook secret. */
  async list(slug: string): Promise<string> {
    this.#databases = [];
    this.#said = [];
    const { webhookSecret } = await this.done<{ webhookSecret: string }>("POST", `${MARKET}/listings`, {
      slug,
      name: slug,
      webhookUrl: this.hooks.url,
      permissions: [],
    });
    const payment = await this.done<{ id: string }>("POST", `${MARKET}/listings/${slug}/checkout`);
    await this.done("POST", `${MARKET}/payments/${payment.id}/confirm`);
    return webhookSecret;
  }

  activate(slug: string): Promise<Answered<ShownActivation> | null> {
    return this.ask("POST", `${MARKET}/activations`, { agentSlug: slug, acceptedPermissions: [] }, `activate-${slug}`);
  }

  /** Turns an agent on and waits until its key has arrived. */
  async activated(slug: string): Promise<string> {
    await this.activate(slug);
    await this.settle();
    return (await this.activationOf(slug)).id;
  }

  async activationsOf(slug: string): Promise<ShownActivation[]> {
    return (await this.done<{ data: ShownActivation[] }>("GET", `${MARKET}/activations?agentSlug=${slug}`)).data;
  }

  /** The only one there is. */
  async activationOf(slug: string): Promise<ShownActivation> {
    const [found, ...others] = await this.activationsOf(slug);
    if (!found || others.length > 0) throw new Error(`There are ${others.length + (found ? 1 : 0)} activations of ${slug}.`);
    return found;
  }

  /** pause, resume or deactivate, always under the same Idempotency-Key. */
  turn(id: string, verb: "pause" | "resume" | "deactivate"): Promise<Answered<ShownActivation> | null> {
    return this.ask("POST", `${MARKET}/activations/${id}/${verb}`, undefined, `${verb}-${id}`);
  }

  /**
   * Does something that ends with the server's death where it was ordered, or by the webhook; then starts it again. `came`
   * is how many requests the webhook had seen by then: the server that starts may send at once.
   */
  async killed<T>(order: CrashPoint | null, act: () => Promise<T>): Promise<{ result: T; came: number }> {
    if (order !== null) this.server.crashAt(order);
    const { process } = this.server;
    const acting = act();
    const never = setTimeout(() => void process.kill("SIGTERM"), KILLED_WITHIN_MS);
    expect(await process.ended, `It did not come to ${JSON.stringify(order)}.`).toEqual({ code: null, signal: "SIGKILL" });
    clearTimeout(never);
    const result = await acting;
    this.#said.push(process.stderr(), process.stdout());
    this.#databases?.push(await this.database.bytes());
    const came = this.hooks.calls.length;
    await this.start();
    return { result, came };
  }

  /** Waits until no event is on its way. Time is moved, so that neither a retry nor a lease is waited for. */
  async settle(seconds = 20): Promise<void> {
    const open = async (): Promise<number> => {
      const [events] = await this.database.query<{ n: number }>("SELECT count(*) AS n FROM webhook_events WHERE settled_at IS NULL");
      const [lanes] = await this.database.query<{ n: number }>("SELECT count(*) AS n FROM webhook_streams WHERE claim IS NOT NULL");
      return Number(events?.n) + Number(lanes?.n);
    };
    await until(
      seconds,
      async () => {
        if ((await open()) === 0) return true;
        await this.advance("31s");
        return (await open()) === 0;
      },
      async () => `${await open()} events or lanes are on their way`,
    );
  }

  async advance(by: string): Promise<void> {
    this.#moved = (await this.done<{ now: string }>("POST", "/__dev/clock/advance", { by })).now;
  }

  /** Types of the events that came for an activation, each delivery of them. */
  types(activationId: string): string[] {
    return this.hooks.calls.filter(({ event }) => event.activationId === activationId).map(({ event }) => event.type);
  }

  /** The keys that came for an agent, each delivery of them. */
  keys(slug: string, among = this.hooks.calls.length): string[] {
    return this.hooks.calls
      .slice(0, among)
      .flatMap(({ event }) => (event.type === "agent.activated" && event.agentSlug === slug ? [event.apiKey] : []));
  }

  /** More activations of the same listing. */
  async copyActivation(activationId: string, n: number): Promise<void> {
    const [row] = await this.database.query(`SELECT * FROM activations WHERE id = '${activationId}'`);
    for (const sql of copiesOf(Object.keys(row ?? {}), activationId, n)) await this.database.query(sql);
  }

  /** Asserts what must be true of an agent after its test: its key came `sent` times. */
  async judge(slug: string, sent: number): Promise<void> {
    const keys = this.keys(slug);
    expect(keys).toHaveLength(sent);
    expect(new Set(keys).size).toBe(Math.min(sent, 1));
    for (const calls of Map.groupBy(this.hooks.calls, ({ event }) => event.id).values())
      expect(new Set(calls.map(({ bytes }) => bytes.toString("hex"))).size).toBe(1);
    await this.#expectWhole();
    for (const key of new Set(keys)) {
      this.#sent.set(key, sent);
      const places = [await this.database.bytes(), ...(this.#databases ?? []), Buffer.from(this.#said.join("\n"))];
      expect(places.map((place) => containsText(place, key))).toEqual(places.map(() => false));
    }
  }

  /** Nothing that came later held a key that had arrived, whatever else was sent with it. */
  judgeAll(): void {
    for (const [key, sent] of this.#sent) expect(this.hooks.calls.filter(({ bytes }) => bytes.includes(key))).toHaveLength(sent);
    expect(this.#sent.size).toBeGreaterThan(0);
  }

  /** An activation and its first event are both there or neither; events are numbered without a gap; no key is kept. */
  async #expectWhole(): Promise<void> {
    const { query } = this.database;
    // Copies were made without events, for brands that have no other rows.
    const silent = `SELECT a.id FROM activations a WHERE a.workspace_id LIKE 'ws\\_%' ESCAPE '\\'
      AND NOT EXISTS (SELECT 1 FROM webhook_events e WHERE e.stream_id = a.id AND e.type = 'agent.activated' AND e.sequence = 1)`;
    const homeless = "SELECT e.id FROM webhook_events e WHERE NOT EXISTS (SELECT 1 FROM activations a WHERE a.id = e.stream_id)";
    const gaps = `SELECT e.stream_id FROM webhook_events e JOIN activations a ON a.id = e.stream_id GROUP BY e.stream_id, a.sequence
      HAVING count(*) <> max(e.sequence) OR min(e.sequence) <> 1 OR max(e.sequence) <> a.sequence`;
    for (const sql of [silent, homeless, gaps]) expect(await query(sql)).toEqual([]);
    expect(await query("SELECT id FROM webhook_events WHERE sealed IS NOT NULL")).toEqual([]);
  }
}
