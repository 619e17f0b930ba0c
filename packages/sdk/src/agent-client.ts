import { createCaller } from "./call/call-with-retries.ts";
import { createMethods } from "./endpoint-methods.ts";
import { AGENT_ENDPOINTS } from "./endpoints.generated.ts";
import { UsageError } from "./errors.ts";
import type { AgentMethods } from "./methods.generated.ts";
import { type MailsvcOptions, resolveSettings } from "./options.ts";
import { environment, showAs } from "./runtime.ts";

/** Options of an agent's client; it serves one activation. */
export interface AgentClientOptions extends Omit<MailsvcOptions, "apiKey"> {
  /** The activation id from the `agent.activated` event. Default: MAILSVC_ACTIVATION_ID. */
  readonly activationId?: string | undefined;
  /** The API key from the `agent.activated` event, or a function that returns it before each attempt. Default: MAILSVC_AGENT_KEY. */
  readonly apiKey?: MailsvcOptions["apiKey"];
}

interface AgentClientBase {
  readonly activationId: string;
  /** The server's address, without a trailing slash. */
  readonly baseUrl: string;
  /** A client with some options changed: another key, no retries, a longer time limit. */
  withOptions(options: AgentClientOptions): AgentClient;
}

/** The agent API of one activation: `agent.<noun>.<verb>(...)`, each limited to the scopes the brand granted (docs/marketplace.md#the-key). */
export interface AgentClient extends AgentClientBase, AgentMethods {}

const ACTIVATION_ID = /^[\w-]{1,64}$/;

class Client implements AgentClientBase {
  readonly activationId: string;
  readonly baseUrl: string;
  readonly #options: AgentClientOptions;

  constructor(options: AgentClientOptions = {}) {
    const { activationId = environment("MAILSVC_ACTIVATION_ID"), apiKey, ...rest } = options;
    if (activationId === undefined || !ACTIVATION_ID.test(activationId))
      throw new UsageError({
        message: "activationId is missing or malformed.",
        hint: "The agent.activated event carries it, next to the API key.",
      });
    const key = apiKey ?? environment("MAILSVC_AGENT_KEY");
    if (key === undefined)
      throw new UsageError({ message: "apiKey is missing.", hint: "The agent.activated event carries it once: ms_agent_…" });
    const settings = resolveSettings({ ...rest, apiKey: key });
    this.#options = options;
    this.activationId = activationId;
    this.baseUrl = settings.baseUrl;
    Object.assign(this, createMethods(AGENT_ENDPOINTS, createCaller(settings), settings, activationId));
    showAs(this, () => `AgentClient { activationId: ${JSON.stringify(this.activationId)}, baseUrl: ${JSON.stringify(this.baseUrl)} }`);
  }

  withOptions(options: AgentClientOptions): AgentClient {
    return new AgentClient({ ...this.#options, ...options });
  }

  toJSON(): { activationId: string; baseUrl: string } {
    return { activationId: this.activationId, baseUrl: this.baseUrl };
  }
}

/**
 * A client for one activation of an agent: `new AgentClient({activationId, apiKey})`. The key works for this activation
 * only (docs/marketplace.md#the-key). Retries, time limits and idempotency keys work as in `Mailsvc`. Throws UsageError when an option is
 * invalid; calls throw ApiError, for example `activation_paused` (403) while the brand has paused the agent.
 */
export const AgentClient = Client as unknown as new (options?: AgentClientOptions) => AgentClient;
