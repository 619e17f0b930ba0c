import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestWorld } from "@mailsvc/server/testing";
import { currentTime } from "../runtime.ts";
import { EventRelay } from "./event-relay.ts";
import { ALL_SCOPES, loadServer } from "./service.ts";

/** A call of the agent under test. */
export interface RecordedCall {
  /** Time of arrival, ms since 1970, by this machine. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** The activation its path names; null for another path. */
  readonly activationId: string | null;
  /** The run its body names. */
  readonly runId: string | null;
  /** The key it was made with. */
  readonly key: string;
  readonly status: number;
}

interface Gate {
  /** Calls of the agent wait for it. */
  open: Promise<unknown>;
  /** True while calls of the agent are dropped. */
  isShut: boolean;
}

const SLUG = "agent-under-test";
const HOP_BY_HOP = new Set(["connection", "keep-alive", "transfer-encoding", "host", "content-length"]);

/**
 * The marketplace on a port of this machine, for an agent that runs as its own process: the real service, whose clock goes with
 * that of the machine, with three brands. It records the calls of the agent and stands between the two.
 */
export class RecordingMarketplace {
  readonly world: TestWorld;
  readonly url: string;
  /** The secret of the agent's webhook. */
  readonly secret: string;
  readonly slug = SLUG;
  readonly calls: readonly RecordedCall[];
  readonly relay: EventRelay;
  /** The clients of three brands. */
  readonly brands: readonly [first: TestWorld["sdk"], second: TestWorld["sdk"], third: TestWorld["sdk"]];
  readonly #server: Server;
  readonly #gate: Gate;

  private constructor(
    fields: Pick<RecordingMarketplace, "world" | "url" | "secret" | "calls" | "brands" | "relay">,
    server: Server,
    gate: Gate,
  ) {
    this.world = fields.world;
    this.url = fields.url;
    this.secret = fields.secret;
    this.calls = fields.calls;
    this.brands = fields.brands;
    this.relay = fields.relay;
    this.#server = server;
    this.#gate = gate;
  }

  /** Starts a marketplace in which the agent at this address is listed. Throws UsageError if @mailsvc/server is not installed. */
  static async create(webhookUrl: string): Promise<RecordingMarketplace> {
    const { createWorld } = await loadServer();
    const world = await createWorld({ now: new Date(currentTime()).toISOString() });
    await world.sdk.clock.thaw();
    const calls: RecordedCall[] = [];
    const gate: Gate = { open: Promise.resolve(), isShut: false };
    const server = createServer((request, response) => {
      forward(world, request, calls, gate).then(
        async (answer) => {
          response.writeHead(answer.status, Object.fromEntries([...answer.headers].filter(([name]) => !HOP_BY_HOP.has(name))));
          response.end(new Uint8Array(await answer.arrayBuffer()));
        },
        () => response.destroy(),
      );
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const relay = await EventRelay.open(new URL(webhookUrl));
    const { sdk: builder } = world.builder;
    const permissions = [...ALL_SCOPES];
    const listing = await builder.listings.create({ slug: SLUG, name: "Agent under test", webhookUrl: relay.url, permissions });
    await builder.payments.confirm((await builder.listings.checkout(SLUG)).id);
    const second = await world.createWorkspace("Second brand");
    const third = await world.createWorkspace("Third brand");
    const brands = [world.sdk, second.sdk, third.sdk] as const;
    for (const brand of brands) await brand.credits.grant({ amount: 1000 });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return new RecordingMarketplace({ world, url, secret: listing.webhookSecret, calls, brands, relay }, server, gate);
  }

  /** Moves the clock of the service. Calls of the agent wait until then, so that no heartbeat arrives on the way. */
  async advance(by: string): Promise<void> {
    const moved = this.world.sdk.clock.advance({ by }).finally(() => {
      this.#gate.open = Promise.resolve();
    });
    this.#gate.open = moved;
    await moved;
  }

  /** Drops the calls that arrive, as if the network were gone, or takes them again. */
  shut(isShut: boolean): void {
    this.#gate.isShut = isShut;
  }

  /** Makes a run of an activation that has ended, with the key that its agent got. Returns its id. */
  async createEndedRun(activationId: string, runId: string): Promise<string> {
    const headers = { authorization: `Bearer ${this.relay.keys.get(activationId)}`, "content-type": "application/json" };
    for (const [verb, fields] of [
      ["start", { runId, title: "A message of the check" }],
      ["complete", { runId }],
    ] as const) {
      const url = `${this.world.url}/api/agents/activations/${activationId}/runs/${verb}`;
      await this.world.fetch(url, { method: "POST", headers, body: JSON.stringify(fields) });
    }
    return runId;
  }

  async dispose(): Promise<void> {
    await this.relay.close();
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
    await this.world.dispose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}

/** Hands a request of the agent to the service and records it. */
async function forward(world: TestWorld, request: IncomingMessage, calls: RecordedCall[], gate: Gate): Promise<Response> {
  const at = currentTime();
  if (gate.isShut) throw new Error("Calls are dropped.");
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const { method = "GET", url: path = "/" } = request;
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    HOP_BY_HOP.has(name) || value === undefined ? [] : [[name, String(value)]],
  );
  await gate.open;
  const answer = await world.fetch(world.url + path, { method, headers, ...(body.length > 0 && { body }) });
  const [, activationId = null] = /^\/api\/agents\/activations\/([^/?]+)/.exec(path) ?? [];
  const key = String(request.headers.authorization ?? "").replace(/^Bearer\s+/i, "");
  calls.push({ at, method, path, activationId, runId: runIdOf(body), key, status: answer.status });
  return answer;
}

function runIdOf(body: Buffer): string | null {
  try {
    const { runId } = JSON.parse(body.toString()) as { runId?: unknown };
    return typeof runId === "string" ? runId : null;
  } catch {
    // No body, or a file.
    return null;
  }
}
