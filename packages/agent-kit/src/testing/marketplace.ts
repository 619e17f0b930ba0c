import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestWorld } from "@mailsvc/server/testing";
import { nodeHandler } from "../adapters/node.ts";
import type { Agent } from "../agent.ts";
import type { Message, Run } from "../contract.generated.ts";
import type { AgentOptions } from "../options.ts";
import { sleep, turn } from "../runtime.ts";
import { ALL_SCOPES, loadServer, type Scope } from "./service.ts";

/** Options of `TestMarketplace.create`. */
export interface TestMarketplaceOptions {
  /** The seed of everything random in the service. The same seed gives the same ids and keys. */
  seed?: number;
  /** The time at the beginning, ISO 8601. Time stands still until it is advanced. */
  now?: string;
  /** The scopes the agent asks for. Default: all. */
  scopes?: Scope[];
  /** The credits the brand has. Default: 1000. */
  credits?: number;
}

/** Work that was made of a proposal, which the brand has approved. */
export interface ProposedWork {
  readonly kind: "campaign" | "template";
  readonly id: string;
  readonly sent: boolean;
  readonly name: string;
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
}

/** The activation of an agent, from the side of its brand. */
export interface TestActivation {
  readonly id: string;
  pause(): Promise<void>;
  resume(): Promise<void>;
  deactivate(): Promise<void>;
  /** Posts a text to the agent. */
  say(text: string): Promise<void>;
  /**
   * Answers the oldest approval request that waits for an answer: `approve`, `reject` or the id of an option. Waits for a request. A proposed
   * campaign that is approved becomes a draft, or is sent.
   */
  answer(decision: string, comment?: string, create?: "draft" | "send"): Promise<void>;
  /** The campaigns and templates that were made of the agent's proposals, oldest first. */
  proposed(): Promise<ProposedWork[]>;
  /** The runs of the agent, oldest first. */
  runs(): Promise<Run[]>;
  /** The log of a run, oldest first. */
  logs(runId: string): Promise<string[]>;
  /** The conversation with the agent, oldest first. */
  messages(): Promise<Message[]>;
  /** The status of the activation. */
  status(): Promise<"active" | "paused" | "deactivated">;
  /** The credits the brand has left. */
  balance(): Promise<number>;
}

const SLUG = "agent-under-test";
// Ticks of the event loop without a call of the agent that count as rest.
const QUIET_TURNS = 10;
const WAIT_MS = 10_000;

/**
 * The marketplace in this process: the real service with a frozen clock, a builder whose agent is listed, and a brand. The agent is
 * called at a port of this machine and calls back without a network.
 *
 *     await using market = await TestMarketplace.create();
 *     market.serve(createAgent({ ...market.options }));
 *     const activation = await market.activate();
 */
export class TestMarketplace {
  /** The whole service: clients of brand and builder, clock, inbox. */
  readonly world: TestWorld;
  /** Options for `createAgent` in this marketplace: secret, address, `fetch` and clock. */
  readonly options: Required<Pick<AgentOptions, "baseUrl" | "fetch" | "clock">> & { secret: string };
  readonly #server: Server;
  #agent: Agent | undefined;

  private constructor(world: TestWorld, server: Server, secret: string, calls: Calls) {
    this.world = world;
    this.#server = server;
    this.options = {
      secret,
      baseUrl: world.url,
      fetch: calls.counted(world.fetch),
      clock: { now: world.clock.now, after: world.clock.after },
    };
  }

  /** Starts a marketplace, in a fraction of a second. Throws UsageError if @mailsvc/server is not installed. */
  static async create({ scopes = [...ALL_SCOPES], credits = 1000, ...options }: TestMarketplaceOptions = {}): Promise<TestMarketplace> {
    const { createWorld } = await loadServer();
    const calls = new Calls();
    const world = await createWorld({ ...options, alongside: () => calls.rest() });
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const webhookUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`;
    const { sdk: builder } = world.builder;
    const listing = await builder.listings.create({ slug: SLUG, name: "Agent under test", webhookUrl, permissions: scopes });
    await builder.payments.confirm((await builder.listings.checkout(SLUG)).id);
    await world.sdk.credits.grant({ amount: credits });
    const market = new TestMarketplace(world, server, listing.webhookSecret, calls);
    server.on("request", (request, response) => {
      if (market.#agent) return void nodeHandler(market.#agent)(request, response);
      response.writeHead(503).end();
    });
    return market;
  }

  /** Lets this agent receive the events, instead of the one before it: as a restart of the process does. */
  serve(agent: Agent): void {
    this.#agent = agent;
  }

  /** The brand turns the agent on. When this resolves, agent.activated was delivered, and the agent rests. */
  async activate(): Promise<TestActivation> {
    const brand = this.world.sdk;
    const { permissions } = await brand.catalog.get(SLUG);
    const { id } = await brand.activations.create({ agentSlug: SLUG, acceptedPermissions: permissions.map(({ scope }) => scope) });
    await this.settle();
    const then = async (work: Promise<unknown>): Promise<void> => {
      await work;
      await this.settle();
    };
    return {
      id,
      pause: () => then(brand.activations.pause(id)),
      resume: () => then(brand.activations.resume(id)),
      deactivate: () => then(brand.activations.deactivate(id)),
      say: (text) => then(brand.messages.create(id, { text })),
      answer: async (decision, comment, create = "draft") => {
        const request = await this.until("an approval request", async () =>
          (await brand.approvals.list({ activationId: id }).toArray()).at(-1),
        );
        const { proposal } = decision === "approve" ? await brand.approvals.get(request.id) : { proposal: null };
        await then(
          brand.messages.answer(request.id, {
            decision,
            ...(comment === undefined ? {} : { comment }),
            ...(proposal && { hash: proposal.hash, create }),
            ...(proposal?.kind === "campaign" && { fromEmail: proposal.suggestedSender?.fromEmail ?? "hello@brand.example" }),
          }),
        );
      },
      proposed: async () => {
        const approved = (await brand.approvals.list({ activationId: id, status: "APPROVED" }).toArray()).reverse();
        const details = await Promise.all(approved.map(async (request) => (await brand.approvals.get(request.id)).proposal));
        return details.flatMap((made) =>
          made?.created ? [{ ...made.created, name: made.name, subject: made.subject, html: made.html, text: made.text }] : [],
        );
      },
      runs: async () => (await brand.runs.list(id).toArray()).reverse(),
      logs: async (runId) => (await brand.runs.logs(id, runId).toArray()).map(({ message }) => message).reverse(),
      messages: async () => (await brand.messages.list(id).toArray()).reverse(),
      status: async () => (await brand.activations.get(id)).status,
      balance: async () => (await brand.credits.get()).balance,
    };
  }

  /** Moves time, such as `15m` or `8d`. Timers of the service and of the agent fire at their own instants, in order. */
  async advance(by: string): Promise<void> {
    await this.world.clock.advance(by);
    await this.settle();
  }

  /** Waits until the service has nothing to do and the agent has made no call for a while. */
  settle(): Promise<void> {
    return this.world.settle();
  }

  /** Waits, by real time, until `look` returns something other than undefined, null and false. Throws after ten seconds. */
  async until<T>(what: string, look: () => Promise<T> | T): Promise<NonNullable<Exclude<T, false>>> {
    for (let waited = 0; waited < WAIT_MS; waited += 10) {
      await this.settle();
      const found = await look();
      if (found !== undefined && found !== null && found !== false) return found as NonNullable<Exclude<T, false>>;
      await sleep(10);
    }
    throw new Error(`There was never ${what}.`);
  }

  async dispose(): Promise<void> {
    await this.#agent?.stop();
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
    await this.world.dispose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}

/** Counts the calls of the agent, to know when it rests. */
class Calls {
  #open = 0;
  #total = 0;
  #seen = 0;

  counted(inner: typeof fetch): typeof fetch {
    return async (input, init) => {
      this.#open += 1;
      this.#total += 1;
      try {
        return await inner(input, init);
      } finally {
        this.#open -= 1;
      }
    };
  }

  /** Waits until the agent has made no call for some turns. Returns whether it made any since the last time. */
  async rest(): Promise<boolean> {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet = this.#open > 0 ? 0 : quiet + 1) await turn();
    const before = this.#seen;
    this.#seen = this.#total;
    return this.#total > before;
  }
}
