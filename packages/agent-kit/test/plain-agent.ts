import { createHmac } from "node:crypto";
import { createServer, type Server } from "node:http";
import { freePort } from "../../../test/support/free-port.ts";
import type { RunningAgent } from "../src/conformance/running-agent.ts";

/** A way to be wrong. */
export type Flaw =
  | "keeps the key in memory"
  | "has one variable for the key"
  | "works on every copy"
  | "ignores the pause"
  | "keeps the pause in memory"
  | "deletes the key at the pause"
  | "ignores the end"
  | "sends no heartbeat"
  | "goes on with a failed run";

interface State {
  readonly keys: Map<string, string>;
  readonly paused: Set<string>;
  readonly seen: Set<string>;
  /** The run of each activation. */
  readonly runs: Map<string, string>;
}

interface Event {
  readonly id: string;
  readonly type: string;
  readonly activationId: string;
  readonly apiKey?: string;
  readonly runId?: string;
}

const HEARTBEAT_MS = 700;
const newState = (): State => ({ keys: new Map(), paused: new Set(), seen: new Set(), runs: new Map() });

/** An agent made without the kit. It works on one run for each activation, without end, and answers messages. */
export class PlainAgent {
  readonly #flaw: Flaw | null;
  readonly #disk = newState();
  #port = 0;

  constructor(flaw: Flaw | null) {
    this.#flaw = flaw;
  }

  /** Chooses its address, which is known before it starts. */
  async reserve(): Promise<string> {
    this.#port = await freePort();
    return `http://127.0.0.1:${this.#port}/webhook`;
  }

  /** Starts it as a process would: with what is on the disk, and nothing else. */
  async start({ AGENT_WEBHOOK_SECRET: secret = "", MAILSVC_URL: service = "" }: Readonly<Record<string, string>>): Promise<RunningAgent> {
    const memory = newState();
    const { keys } = this.#flaw === "keeps the key in memory" ? memory : this.#disk;
    const { paused } = this.#flaw === "keeps the pause in memory" ? memory : this.#disk;
    const { seen, runs } = this.#disk;
    let last: { id: string; key: string } | undefined;

    const call = async (activationId: string, path: string, body: object): Promise<void> => {
      const own = { id: activationId, key: keys.get(activationId) ?? "" };
      const { id, key } = this.#flaw === "has one variable for the key" ? (last ?? own) : own;
      if (key === "") return;
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      await fetch(`${service}/api/agents/activations/${id}${path}`, { method: "POST", headers, body: JSON.stringify(body) }).then(
        (response) => response.text(),
        () => {},
      );
    };
    const beat = (): void => {
      for (const [activationId, runId] of runs) if (!paused.has(activationId)) void call(activationId, "/runs/log", { runId, entries: [] });
    };
    const handle = async ({ id, type, activationId, apiKey, runId }: Event): Promise<void> => {
      if (type === "agent.activated" && apiKey) {
        keys.set(activationId, apiKey);
        last = { id: activationId, key: apiKey };
        runs.set(activationId, `run-${activationId}`);
        await call(activationId, "/runs/start", { runId: `run-${activationId}`, title: "Work" });
      }
      if (type === "message.posted") await call(activationId, "/messages", { text: `I am here: ${id}` });
      if (type === "agent.paused" && this.#flaw !== "ignores the pause") paused.add(activationId);
      if (type === "agent.paused" && this.#flaw === "deletes the key at the pause") keys.delete(activationId);
      if (type === "agent.resumed") paused.delete(activationId);
      if (type === "agent.deactivated" && this.#flaw !== "ignores the end") runs.delete(activationId);
      if (type === "run_force_failed" && runId && this.#flaw !== "goes on with a failed run") runs.delete(activationId);
    };

    const timer = this.#flaw === "sends no heartbeat" ? undefined : setInterval(beat, HEARTBEAT_MS);
    const server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const body = Buffer.concat(parts);
      const isSigned = createHmac("sha256", secret).update(body).digest("hex") === request.headers["x-service-signature"];
      response.writeHead(isSigned ? 200 : 401).end();
      if (!isSigned) return;
      const event = JSON.parse(body.toString()) as Event;
      if (seen.has(event.id) && this.#flaw !== "works on every copy") return;
      seen.add(event.id);
      await handle(event);
    });
    await listen(server, this.#port);
    return {
      kill: async () => {
        clearInterval(timer);
        await close(server);
      },
    };
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((listening, failed) => server.once("error", failed).listen(port, "127.0.0.1", listening));
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
}
