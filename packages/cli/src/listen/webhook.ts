import { contract, type Webhook } from "@mailsvc/sdk/contract";
import { resolveNames } from "../contract/names.ts";
import { usageError } from "../runtime/errors.ts";
import { buildCall } from "../runtime/request.ts";
import type { Session } from "../types.ts";
import type { ForwardedEvent } from "./forwarder.ts";
import { parseTarget } from "./routes.ts";

/** The type of events that go to the webhook which they name, and to no other one. */
const ADDRESSED = "automation.webhook";

// Maximum length of a filter that the server accepts.
const MAX_FILTER = 1000;

/** A webhook of the server whose events are forwarded to this machine as well. */
export class RegisteredWebhook {
  readonly id: string;
  /** The types of its events, as it was registered with them. */
  readonly patterns: readonly string[];
  readonly #url: string;

  constructor({ id, url, events }: Pick<Webhook, "id" | "url" | "events">) {
    this.id = id;
    this.patterns = [...new Set([...events, ADDRESSED])];
    this.#url = url;
  }

  /** Reads a webhook. Throws CliError for one with a format that is not made here, and what the server says of one that is not there. */
  static async read(session: Session, given: string): Promise<RegisteredWebhook> {
    const [id = given] = await resolveNames(session, contract.webhooks.get, [given]);
    const webhook = (await session.send(buildCall(contract.webhooks.get, [id], {}, undefined))).data as Webhook;
    if (webhook.format !== "mailsvc")
      throw usageError(`The webhook ${id} has the format ${webhook.format}, and listen makes requests in the format mailsvc only.`, {
        hint: "Without --webhook its events are forwarded in the format mailsvc.",
      });
    return new RegisteredWebhook(webhook);
  }

  /** The filter with which the server sends its events; undefined for all events. */
  get filter(): string | undefined {
    const text = this.patterns.join(",");
    return text.length > MAX_FILTER || this.patterns.includes("*") ? undefined : text;
  }

  /** True if it gets this event of one of its types. */
  gets({ type, body }: ForwardedEvent): boolean {
    return type !== ADDRESSED || (JSON.parse(body) as { data?: { webhookId?: unknown } }).data?.webhookId === this.id;
  }

  /** Returns the URL for its events: if `target` names only a server, with the path of the webhook's URL. */
  locate(target: string): string {
    const place = new URL(parseTarget(target, "--forward-to"));
    if (place.pathname !== "/" || place.search !== "" || target.endsWith("/")) return target;
    const { pathname, search } = new URL(this.#url);
    place.pathname = pathname;
    place.search = search;
    return place.href;
  }
}
