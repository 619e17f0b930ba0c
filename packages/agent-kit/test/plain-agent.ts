import { createHmac } from "node:crypto";
import { createServer, type Server } from "node:http";
import { freePort } from "../../../test/support/free-port.ts";
import type { RunningAgent } from "../src/conformance/running-agent.ts";

/** A way to be wrong. */
export type Flaw =
  | "keeps the key in memory"
  | "stores the key after the answer"
  | "has one variable for the key"
  | "keeps the last activation only"
  | "keeps keys by brand"
  | "works on every copy"
  | "remembers ids in memory"
  | "takes one type of an activation for one event"
  | "recognises repeats by their sequence"
  | "forgets what it has acknowledged"
  | "ignores the pause"
  | "calls every three seconds and ignores the pause"
  | "keeps the pause in memory"
  | "stores the pause after the answer"
  | "learns of a pause by a refusal when it starts"
  | "heeds the pause late"
  | "pauses for all brands"
  | "deletes the key at the pause"
  | "ignores the end of a pause"
  | "keeps the end of a pause in memory"
  | "stores the end of a pause after the answer"
  | "ignores the end"
  | "calls every three seconds and ignores the end"
  | "heeds the end late"
  | "ends for all brands"
  | "keeps the end in memory"
  | "sends no heartbeat"
  | "sends heartbeats for one activation only"
  | "refuses events while it is paused"
  | "refuses a second activation"
  | "works on everything again when it starts"
  | "goes on with a failed run"
  | "keeps the end of a failed run in memory";

/** A way to be right that others do not have. */
export type Habit = "recognises repeats by type, activation and run" | "works before it answers";

interface State {
  readonly keys: Map<string, string>;
  readonly paused: Set<string>;
  readonly seen: Set<string>;
  /** The run of each activation. */
  readonly runs: Map<string, string>;
  /** Events that were acknowledged and not worked on. */
  readonly inbox: Map<string, Event>;
}

interface Event {
  readonly id: string;
  readonly type: string;
  readonly activationId: string;
  readonly sequence: number;
  readonly apiKey?: string;
  readonly organizationName?: string;
  readonly runId?: string | null;
}

const HEARTBEAT_MS = 700;
const SELDOM_MS = 3000;
const LATE_MS = 1500;
// As long as a process takes to start.
const START_MS = 200;
const newState = (): State => ({ keys: new Map(), paused: new Set(), seen: new Set(), runs: new Map(), inbox: new Map() });

/** An agent made without the kit. It works on one run for each activation, without end, and answers messages. */
export class PlainAgent {
  readonly #way: Flaw | Habit | null;
  readonly #disk = newState();
  #port = 0;

  constructor(way: Flaw | Habit | null) {
    this.#way = way;
  }

  /** Chooses its address, which is known before it starts. */
  async reserve(): Promise<string> {
    this.#port = await freePort();
    return `http://127.0.0.1:${this.#port}/webhook`;
  }

  /** Starts it as a process would: with what is on the disk, and nothing else. */
  async start({ AGENT_WEBHOOK_SECRET: secret = "", MAILSVC_URL: service = "" }: Readonly<Record<string, string>>): Promise<RunningAgent> {
    const work = new Life(this.#way, this.#disk, service);
    const server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const body = Buffer.concat(parts);
      const isSigned = createHmac("sha256", secret).update(body).digest("hex") === request.headers["x-service-signature"];
      if (!isSigned) return void response.writeHead(401).end();
      const event = JSON.parse(body.toString()) as Event;
      const refusal = work.refuse(event);
      if (refusal !== null) return void response.writeHead(refusal).end();
      const isNew = work.store(event);
      if (isNew && this.#way === "works before it answers") await work.handle(event);
      response.writeHead(200).end();
      if (isNew && this.#way !== "works before it answers") void work.handle(event);
    });
    await listen(server, this.#port);
    work.begin();
    return {
      kill: async () => {
        work.end();
        await close(server);
      },
    };
  }
}

/** Its work between a start and a kill. */
class Life {
  readonly #way: Flaw | Habit | null;
  readonly #disk: State;
  readonly #service: string;
  readonly #memory = newState();
  #timer: NodeJS.Timeout | undefined;
  #last: { id: string; key: string } | undefined;
  #isDead = false;

  constructor(way: Flaw | Habit | null, disk: State, service: string) {
    this.#way = way;
    this.#disk = disk;
    this.#service = service;
    // Ended runs and pauses of an earlier life are known when it was stored that they ended.
    for (const [activationId, runId] of disk.runs) this.#memory.runs.set(activationId, runId);
    for (const id of disk.paused) this.#memory.paused.add(id);
  }

  begin(): void {
    for (const event of this.#disk.inbox.values()) void this.handle(event);
    if (this.#way === "learns of a pause by a refusal when it starts") setTimeout(() => this.#beat(), START_MS);
    if (this.#way === "sends no heartbeat") return;
    this.#timer = setInterval(() => this.#beat(), this.#way?.startsWith("calls every three seconds") ? SELDOM_MS : HEARTBEAT_MS);
  }

  end(): void {
    this.#isDead = true;
    clearInterval(this.#timer);
  }

  /** The status of an event that it does not take. */
  refuse({ type, activationId }: Event): number | null {
    const { keys, paused } = this.#disk;
    if (this.#way === "refuses events while it is paused" && type !== "agent.paused" && paused.has(activationId)) return 503;
    if (this.#way === "refuses a second activation" && type === "agent.activated" && keys.size > 0 && !keys.has(activationId)) return 409;
    return null;
  }

  /** Stores what an event says, before the answer. False for a repeat. */
  store(event: Event): boolean {
    const { type, activationId, runId } = event;
    const seen = this.#way === "remembers ids in memory" ? this.#memory.seen : this.#disk.seen;
    const name = this.#nameOf(event);
    if (seen.has(name) && this.#way !== "works on every copy") return false;
    seen.add(name);
    if (this.#way !== "forgets what it has acknowledged" || type !== "message.posted") this.#disk.inbox.set(event.id, event);
    if (type === "agent.activated") this.#storeKey(event);
    if (type === "agent.paused") this.#storePause(activationId);
    if (type === "agent.resumed" && this.#way !== "ignores the end of a pause") this.#endPause(activationId);
    if (type === "agent.deactivated" && !this.#way?.endsWith("ignores the end")) {
      for (const left of this.#disk.inbox.values()) if (left.activationId === activationId) this.#disk.inbox.delete(left.id);
      if (this.#way === "heeds the end late") setTimeout(() => this.#endRun(activationId, "keeps the end in memory"), 2 * LATE_MS);
      else this.#endRun(activationId, "keeps the end in memory");
    }
    if (type === "run_force_failed" && runId && this.#way !== "goes on with a failed run")
      this.#endRun(activationId, "keeps the end of a failed run in memory");
    return true;
  }

  /** Works on an event that was stored. */
  async handle({ id, type, activationId }: Event): Promise<void> {
    if (type === "agent.activated") await this.#call(activationId, "/runs/start", { runId: `run-${activationId}`, title: "Work" });
    if (this.#way === "forgets what it has acknowledged") await new Promise((begun) => setTimeout(begun, LATE_MS));
    if (type === "message.posted") await this.#call(activationId, "/messages", { text: `I am here: ${id}` });
    if (!this.#isDead && (this.#way !== "works on everything again when it starts" || type !== "message.posted"))
      this.#disk.inbox.delete(id);
  }

  #nameOf({ id, type, activationId, runId, sequence }: Event): string {
    if (this.#way === "takes one type of an activation for one event") return `${type} ${activationId}`;
    if (this.#way === "recognises repeats by their sequence") return String(sequence);
    return this.#way === "recognises repeats by type, activation and run" ? `${type} ${activationId} ${runId}` : id;
  }

  #storeKey({ activationId, apiKey = "", organizationName = "" }: Event): void {
    const store = (): void => {
      if (this.#isDead) return;
      if (this.#way === "keeps the last activation only") this.#disk.keys.clear();
      const { keys } = this.#way === "keeps the key in memory" ? this.#memory : this.#disk;
      const known = this.#way === "keeps keys by brand" ? keys.get(organizationName) : undefined;
      keys.set(organizationName, known ?? apiKey);
      keys.set(activationId, known ?? apiKey);
      this.#last = { id: activationId, key: apiKey };
    };
    if (this.#way === "stores the key after the answer") setTimeout(store, LATE_MS);
    else store();
    for (const { runs } of [this.#disk, this.#memory]) runs.set(activationId, `run-${activationId}`);
  }

  #storePause(activationId: string): void {
    if (this.#way?.endsWith("ignores the pause")) return;
    if (this.#way === "heeds the pause late") setTimeout(() => this.#memory.paused.add(activationId), 2 * LATE_MS);
    else this.#memory.paused.add(activationId);
    if (this.#way === "pauses for all brands") for (const id of this.#disk.runs.keys()) this.#memory.paused.add(id);
    if (this.#way === "deletes the key at the pause") this.#disk.keys.delete(activationId);
    if (this.#way === "keeps the pause in memory" || this.#way === "learns of a pause by a refusal when it starts") return;
    if (this.#way === "stores the pause after the answer") setTimeout(() => this.#isDead || this.#disk.paused.add(activationId), LATE_MS);
    else this.#disk.paused.add(activationId);
  }

  #endPause(activationId: string): void {
    for (const id of this.#way === "pauses for all brands" ? this.#disk.runs.keys() : [activationId]) this.#memory.paused.delete(id);
    if (this.#way === "keeps the end of a pause in memory") return;
    if (this.#way === "stores the end of a pause after the answer")
      setTimeout(() => this.#isDead || this.#disk.paused.delete(activationId), LATE_MS);
    else this.#disk.paused.delete(activationId);
  }

  #endRun(activationId: string, inMemory: Flaw): void {
    if (this.#way === "ends for all brands") for (const id of this.#disk.keys.keys()) this.#memory.paused.add(id);
    this.#memory.runs.delete(activationId);
    if (this.#way !== inMemory) this.#disk.runs.delete(activationId);
  }

  #beat(): void {
    const runs = [...this.#memory.runs].slice(0, this.#way === "sends heartbeats for one activation only" ? 1 : undefined);
    for (const [activationId, runId] of runs) void this.#call(activationId, "/runs/log", { runId, entries: [] });
  }

  async #call(activationId: string, path: string, body: object): Promise<void> {
    const { keys } = this.#way === "keeps the key in memory" ? this.#memory : this.#disk;
    if (this.#way === "stores the key after the answer" && !keys.has(activationId))
      await new Promise((stored) => setTimeout(stored, 2 * LATE_MS));
    const own = { id: activationId, key: keys.get(activationId) ?? "" };
    const { id, key } = this.#way === "has one variable for the key" ? (this.#last ?? own) : own;
    if (key === "" || this.#isDead || this.#memory.paused.has(activationId)) return;
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    await fetch(`${this.#service}/api/agents/activations/${id}${path}`, { method: "POST", headers, body: JSON.stringify(body) }).then(
      async (response) => {
        await response.text();
        if (response.status === 403 && this.#way === "learns of a pause by a refusal when it starts") this.#memory.paused.add(activationId);
      },
      () => {},
    );
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((listening, failed) => server.once("error", failed).listen(port, "127.0.0.1", listening));
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
}
