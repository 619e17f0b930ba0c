import { setTimeout as sleep } from "node:timers/promises";
import { isApiError, Mailsvc } from "@mailsvc/sdk";
import type { PostgresDb } from "../../packages/server/src/db/postgres/database.ts";
import { factKeyStore } from "../../packages/server/src/installation/installation.ts";
import { keyFileStore } from "../../packages/server/src/lib/key-file.ts";
import type { TestWorld } from "../../packages/server/src/testing.ts";
import type { Databases } from "./databases.ts";
import { Ledger } from "./ledger.ts";
import { MailPeer } from "./mail-peer.ts";
import { type Place, Places } from "./place.ts";
import type { Receivers, WorldHooks } from "./receivers.ts";
import { MARKS, other, type Script, startOf, TENANTS, type Tenant } from "./script.ts";
import { Server } from "./server.ts";

/** Something that a script has made. */
export interface Thing {
  readonly label: string;
  readonly noun: string;
  readonly tenant: Tenant;
  readonly id: string;
  /** Further facts that later steps need, such as a key or an address. */
  readonly also: Readonly<Record<string, string>>;
}

/** Outcome of a call: its answer, the code of its refusal, or nothing, because the server died meanwhile. */
export type Outcome<T> = { readonly value: T } | { readonly refused: string } | { readonly lost: true };

/** A world under way: its servers, its mail server and webhooks, what was made in it, and what was seen. */
export class Universe {
  readonly script: Script;
  readonly ledger: Ledger;
  readonly peer: MailPeer | null;
  readonly hooks: WorldHooks;
  readonly things = new Map<string, Thing>();
  readonly workspaces: Record<Tenant, string>;
  /** The pairs of a noun and a disturbance that were tried, as `noun disturbance`. */
  readonly pairs = new Set<string>();
  /** True while something is broken on purpose for which the service may answer with an error of its own. */
  mayFail = false;
  /** Readers that poll the events of a workspace by their numbers, now and then. */
  readonly pollers: Record<Tenant, { last: number; readonly seen: Set<string> }> = {
    a: { last: 0, seen: new Set() },
    b: { last: 0, seen: new Set() },
  };
  /** True once the data was set back: what was seen from outside may then differ from it. */
  rewound = false;
  /** The servers of the world: one, or two on the same Postgres database. */
  readonly #servers: Server[] = [];
  #asked = 0;
  readonly #places: Places;
  #place: Place;
  readonly #keys: Record<Tenant | "builder", string>;
  /** The key that manages workspaces. */
  operatorKey: string;
  #generation = 1;
  /** The instant at which a server is being started, ms. */
  #starting: number | null = null;

  private constructor(script: Script, parts: Parts) {
    this.script = script;
    this.ledger = parts.ledger;
    this.peer = parts.peer;
    this.hooks = parts.hooks;
    this.#places = parts.places;
    this.#place = parts.place;
    this.#servers.push(parts.server);
    const { world } = parts.server;
    this.workspaces = { a: world.workspaceId, b: "" };
    this.#keys = { a: world.apiKey, b: "", builder: world.builder.apiKey };
    this.ledger.now = () => this.now();
    this.operatorKey = world.operatorKey;
  }

  /** Begins a world. Without `databases` it cannot be on Postgres, nor move there. */
  static async open(script: Script, receivers: Receivers, databases: Databases | null): Promise<Universe> {
    const ledger = new Ledger();
    const peer = script.delivery === "relay" ? new MailPeer(ledger) : null;
    const places = new Places(databases);
    const place = await places.first(script.database);
    const flags = flagsOf(script);
    const server = await Server.start({
      place,
      seed: script.seed,
      now: startOf(script),
      peer,
      flags,
      log: (line) => readLog(ledger, line),
    });
    const universe = new Universe(script, { places, place, server, peer, hooks: receivers.serve(ledger), ledger });
    if (script.servers === 2) await universe.#start(1, startOf(script));
    const second = await server.world.createWorkspace("second");
    universe.workspaces.b = second.workspaceId;
    universe.#keys.b = second.apiKey;
    return universe;
  }

  get servers(): readonly Server[] {
    return this.#servers;
  }

  /** Present location of the data. */
  get place(): Place {
    return this.#place;
  }

  /** The world as its first server has it. */
  get world(): TestWorld {
    return (this.#servers[0] as Server).world;
  }

  now(): number {
    return this.#starting ?? this.#servers[0]?.world.clock.now() ?? startOf(this.script);
  }

  /** The owner key of a workspace. */
  keyOf(tenant: Tenant): string {
    return this.#keys[tenant];
  }

  /** A client with the owner key of a workspace, or another key of it. */
  sdk(tenant: Tenant, apiKey: string = this.#keys[tenant]): Mailsvc {
    return new Mailsvc({ apiKey, baseUrl: this.world.url, fetch: this.fetchAs(tenant), maxRetries: 0 });
  }

  /** A client of the builder of agents. */
  builder(): Mailsvc {
    return new Mailsvc({ apiKey: this.#keys.builder, baseUrl: this.world.url, fetch: this.#fetch, maxRetries: 0 });
  }

  /** Requests of one workspace, whose answers must have no word of the other one. */
  fetchAs(tenant: Tenant): typeof fetch {
    return async (input, init) => {
      const response = await this.#fetch(input, init);
      const text = await response.clone().text();
      const { url, method } = new Request(input, init);
      // The inbox of dev mode shows what a mail server would have got, of all workspaces.
      if (text.includes(MARKS[other(tenant)]) && !url.includes("/__dev/"))
        this.ledger.faults.push(`${method} ${url} of ${tenant} shows words of the other workspace`);
      return response;
    };
  }

  /** Makes a call and tells what became of it. Faults of ours are thrown, so that they end the world. */
  async call<T>(make: () => Promise<T>): Promise<Outcome<T>> {
    const died = Promise.race(this.#servers.map((server) => server.died));
    const outcome = await Promise.race([made(make), died.then((): Outcome<T> => ({ lost: true }))]);
    await this.#reviveTheDead();
    return outcome;
  }

  /** The value of a call; null if it was refused or lost. */
  async value<T>(make: () => Promise<T>): Promise<T | null> {
    const outcome = await this.call(make);
    return "value" in outcome ? outcome.value : null;
  }

  /** Ends the faults that were asked for; each server has its own. */
  async clearFaults(): Promise<void> {
    for (const _ of this.#servers) await this.call(() => this.sdk("a").faults.clear());
  }

  /** Keeps a thing that was made, with the number of the last event that may be older than it. */
  async add(thing: Thing): Promise<void> {
    // Work goes on in the background, so that events may have come between the last poll and a new webhook.
    if (thing.noun.endsWith("ebhook")) await this.poll();
    const { last } = this.pollers[thing.tenant];
    this.things.set(thing.label, { ...thing, also: { sequence: String(last), ...thing.also } });
  }

  /** Reads the events that have come since the last time. */
  async poll(): Promise<void> {
    for (const tenant of TENANTS) {
      const poller = this.pollers[tenant];
      const events = await this.value(() => this.sdk(tenant).events.list({ after: poller.last, limit: 100 }).toArray());
      for (const { id, sequence } of events ?? []) {
        poller.seen.add(id);
        poller.last = sequence;
      }
    }
  }

  /** Moves the clocks, and does all that falls due on the way in its order, whoever dies meanwhile. */
  async pass(ms: number): Promise<void> {
    const until = this.now() + ms;
    for (;;) {
      const next = Math.min(until, ...this.#servers.map(({ world }) => world.clock.control.next()?.at ?? until));
      // One server alone stops at its timers by itself.
      const at = this.#servers.length === 1 ? until : Math.max(next, this.now());
      for (const { world, died } of this.#servers) await Promise.race([world.clock.control.advanceTo(at, world.settle), died]);
      const someDied = await this.#reviveTheDead();
      if (at >= until && !someDied) return;
    }
  }

  /**
   * Moves the clocks to each instant at which something is due that was begun, and else by strides. Recurring work is done once a stride:
   * a world has hundreds of that in a month.
   */
  async passQuickly(ms: number, stride: number): Promise<void> {
    const until = this.now() + ms;
    await this.settle();
    while (this.now() < until) {
      const due = Math.min(...(await Promise.all(this.#servers.map((server) => server.findNext()))));
      const at = Math.min(until, Math.max(due, this.now() + 1), this.now() + stride);
      for (const server of this.#servers) await server.skipTo(at);
      await this.settle();
    }
  }

  /** Waits until nothing is due. */
  settle(): Promise<void> {
    return this.pass(0);
  }

  /** Kills a server and starts another one in its place. */
  async kill(which: number): Promise<void> {
    this.#servers[which % this.#servers.length]?.kill();
    await this.#reviveTheDead();
  }

  /** Waits until work that dead servers had begun was taken over, as if they had been silent for long. */
  async takeOver(): Promise<void> {
    const { db } = this.world.app.deps;
    if (db.engine !== "postgres") return;
    const { raw } = (db as PostgresDb).read;
    await raw("update workers set seen_at = seen_at - interval '20 seconds'");
    await raw("update jobs set claimed_at = 0 where state = 'running'");
    const left = `select count(*)::int as left from jobs
      where state = 'running' and (claimed_by is null or not exists (select from workers where name = claimed_by))`;
    const isOver = async (): Promise<boolean> => {
      const [jobs] = await raw<{ left: number }>(left);
      const [workers] = await raw<{ all: number }>("select count(*)::int as all from workers");
      return jobs?.left === 0 && (workers?.all ?? 0) <= this.#servers.length;
    };
    while (!(await isOver())) await sleep(50);
  }

  /** Stops the servers one after the other as an operator does, and starts each again before the next. */
  async restart(): Promise<void> {
    const now = this.now();
    for (const [i, server] of this.#servers.entries()) {
      server.spare();
      await server.world.dispose();
      await this.#start(i, now);
    }
  }

  /** Stops all servers, lets `move` bring their data elsewhere, and starts servers there: on SQLite one. */
  async relocate(move: (places: Places, from: Place) => Promise<Place>): Promise<void> {
    const now = this.now();
    for (const server of this.#servers.splice(0)) {
      server.spare();
      await server.world.dispose();
    }
    this.#place = await move(this.#places, this.#place);
    const servers = this.#place.databaseUrl === null ? 1 : this.script.servers;
    for (let i = 0; i < servers; i += 1) await this.#start(i, now);
  }

  /** Stops all servers, and starts them when `ms` have passed. */
  async sleep(ms: number): Promise<void> {
    const later = this.now() + ms;
    for (const server of this.#servers) {
      server.spare();
      await server.world.dispose();
    }
    for (const i of this.#servers.keys()) await this.#start(i, later);
    await this.settle();
  }

  /** Stops one of two servers as an operator does while something happens; with one, only that happens. */
  async without(which: number, meanwhile: () => Promise<void>): Promise<void> {
    const [away] = this.#servers.length > 1 ? this.#servers.splice(which, 1) : [];
    away?.spare();
    await away?.world.dispose();
    await meanwhile();
    if (away) await this.#start(this.#servers.length, this.now());
  }

  /** Replaces the text of the master keys. */
  async changeMasterKeys(change: (text: string) => string): Promise<void> {
    const { folder, databaseUrl } = this.#place;
    const store = databaseUrl === null ? keyFileStore(folder) : factKeyStore(this.world.app.deps.db);
    const text = await store.read();
    if (text !== null) await store.replace(text, change(text));
  }

  /** Backs the data up while servers use it. */
  backUp(): Promise<string> {
    return this.#places.backUp(this.#place, this.world.app.deps.db);
  }

  /**
   * Goes back to an earlier state of the data. Later observations and refusals count no more: mail that has left will leave again, and a
   * no that was given since is forgotten.
   */
  async rewind(restore: () => Promise<void>): Promise<void> {
    await restore();
    this.rewound = true;
  }

  async close(): Promise<void> {
    this.hooks.close();
    for (const { world } of this.#servers) await world.dispose();
    await this.#places.remove();
  }

  /** Puts new servers in the place of those that have died. Returns whether there were any. */
  async #reviveTheDead(): Promise<boolean> {
    const dead = [...this.#servers.entries()].filter(([, { isDead }]) => isDead);
    for (const [i, server] of dead) {
      const now = server.world.clock.now();
      await server.bury();
      await this.#start(i, now);
    }
    return dead.length > 0;
  }

  async #start(which: number, now: number): Promise<void> {
    this.#generation += 1;
    const seed = this.script.seed + this.#generation * 1_000_003;
    // It delivers mail before its start has ended.
    this.#starting = now;
    this.ledger.starts.push(now);
    try {
      this.#servers[which] = await Server.start({
        place: this.#place,
        seed,
        now,
        peer: this.peer,
        flags: flagsOf(this.script),
        log: (line) => readLog(this.ledger, line),
      });
    } finally {
      this.#starting = null;
    }
  }

  readonly #fetch: typeof fetch = async (input, init) => {
    // Requests go to the servers by turns, as behind a proxy.
    this.#asked += 1;
    const server = this.#servers[this.#asked % this.#servers.length] as Server;
    // A deed on the way of a mail may have its answer after what was broken was mended.
    const mightFail = this.mayFail;
    const response = await server.world.fetch(input, init);
    // Answers of a server after its end reach nobody.
    if (server.isDead) return new Promise<never>(() => {});
    if (response.status >= 500 && !mightFail && !this.mayFail) {
      const { url, method } = new Request(input, init);
      this.ledger.faults.push(`${method} ${url} answered ${response.status}: ${(await response.clone().text()).slice(0, 300)}`);
    }
    return response;
  };
}

interface Parts {
  readonly places: Places;
  readonly place: Place;
  readonly server: Server;
  readonly peer: MailPeer | null;
  readonly hooks: WorldHooks;
  readonly ledger: Ledger;
}

/** Texts that no line of a log may hold: words of a workspace, an address of a person, a key, a secret. */
const SECRET = new RegExp(`${Object.values(MARKS).join("|")}|@people\\.test|\\bms_[a-z]+_[A-Za-z0-9]{20}|whsec_`);

function readLog(ledger: Ledger, line: string): void {
  if (SECRET.test(line)) ledger.faults.push(`The log says what is nobody's business: ${line.slice(0, 400)}`);
}

/** Returns the flags of a script's servers. */
function flagsOf({ keepDays }: Script): Readonly<Record<string, string>> {
  return keepDays === null ? {} : { keep: `emails=${keepDays},events=${keepDays},received=${keepDays}` };
}

async function made<T>(make: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await make() };
  } catch (error) {
    if (isApiError(error)) return { refused: error.code };
    throw error;
  }
}
