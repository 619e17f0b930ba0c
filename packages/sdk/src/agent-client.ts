import { createCaller } from "./call/call-with-retries.ts";
import type { Endpoint } from "./contract/endpoint.ts";
import { type AgentContract, agentContract } from "./contract/index.ts";
import { createMethods } from "./endpoint-methods.ts";
import { UsageError } from "./errors.ts";
import type { Methods } from "./methods.ts";
import { type MailsvcOptions, resolveSettings } from "./options.ts";
import { environment } from "./runtime.ts";

/** What holds for the client of one activation. */
export interface AgentClientOptions extends Omit<MailsvcOptions, "apiKey"> {
  /** The activation, as `agent.activated` named it. Default: MAILSVC_ACTIVATION_ID. */
  readonly activationId?: string | undefined;
  /** The key that came with `agent.activated`, or a function that gives it before each attempt. Default: MAILSVC_AGENT_KEY. */
  readonly apiKey?: MailsvcOptions["apiKey"];
}

/** A path without its activation, which the client knows. */
type Unbound<P extends string> = P extends `${infer Before}/:activationId${infer After}` ? `${Before}${After}` : P;

type UnboundEndpoint<E extends Endpoint> = { readonly [K in keyof E]: K extends "path" ? Unbound<E["path"]> : E[K] };

type UnboundContract<C> = {
  readonly [Noun in keyof C]: {
    readonly [Verb in keyof C[Noun]]: C[Noun][Verb] extends Endpoint ? UnboundEndpoint<C[Noun][Verb]> : never;
  };
};

interface AgentClientBase {
  readonly activationId: string;
  /** Where it sends to, without a slash at the end. */
  readonly baseUrl: string;
}

/** What an agent may call for one activation: `agent.<noun>.<verb>(...)` for every scope (SPEC 5). */
export type AgentClient = AgentClientBase & Methods<UnboundContract<AgentContract>>;

const ACTIVATION_ID = /^[\w-]{1,64}$/;

class Client implements AgentClientBase {
  readonly activationId: string;
  readonly baseUrl: string;

  constructor({ activationId = environment("MAILSVC_ACTIVATION_ID"), apiKey, ...options }: AgentClientOptions = {}) {
    if (activationId === undefined || !ACTIVATION_ID.test(activationId))
      throw new UsageError({
        message: "activationId is missing or is no id of an activation.",
        hint: "It came with agent.activated, beside the key.",
      });
    const key = apiKey ?? environment("MAILSVC_AGENT_KEY");
    if (key === undefined) throw new UsageError({ message: "apiKey is missing.", hint: "It came once, with agent.activated: ms_agent_…" });
    const settings = resolveSettings({ ...options, apiKey: key });
    this.activationId = activationId;
    this.baseUrl = settings.baseUrl;
    Object.assign(this, createMethods(agentContract, createCaller(settings), settings, [activationId]));
  }

  toJSON(): { activationId: string; baseUrl: string } {
    return { activationId: this.activationId, baseUrl: this.baseUrl };
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `AgentClient { activationId: ${JSON.stringify(this.activationId)}, baseUrl: ${JSON.stringify(this.baseUrl)} }`;
  }
}

/**
 * The client of an agent: `new AgentClient({activationId, apiKey})`. One client is for one activation; its key opens no
 * other (SPEC 5.2). Retries, time limits and Idempotency-Keys are those of `Mailsvc`. Throws UsageError when an option is
 * wrong; calls throw ApiError, such as `activation_paused` (403) while the brand has paused it.
 */
export const AgentClient = Client as unknown as new (options?: AgentClientOptions) => AgentClient;
