import { AGENT_EVENT_TYPES, EMAIL_STATES, EMAIL_STATUSES, ERROR_CODES, type ErrorCode, EVENT_TYPES } from "@mailsvc/sdk/contract";
import type { StatusChange } from "../emails/emails.ts";

/** Entries of a list of the contract that were reached, and those that never were. */
export interface Reached {
  readonly reached: readonly string[];
  readonly never: readonly string[];
}

/** Coverage of the contract's lists by a run. */
export interface CoverageReport {
  readonly errorCodes: Reached;
  readonly emailStates: Reached;
  /** `queued → sent`, and so on. */
  readonly emailTransitions: Reached;
  readonly eventTypes: Reached;
  /** Types of events that a webhook of a developer has received. */
  readonly webhookEvents: Reached;
  /** Types of events that the webhook of an agent has received. */
  readonly agentEvents: Reached;
}

const LISTS = {
  // A server in dev mode never answers `dev_only`.
  errorCodes: ERROR_CODES.filter((code) => code !== "dev_only"),
  emailStates: EMAIL_STATUSES,
  emailTransitions: EMAIL_STATUSES.flatMap((from) => EMAIL_STATES[from].next.map((to) => formatTransition(from, to))),
  eventTypes: EVENT_TYPES,
  webhookEvents: EVENT_TYPES,
  agentEvents: AGENT_EVENT_TYPES,
} as const satisfies Record<keyof CoverageReport, readonly string[]>;

/** Counts what a run provokes: error codes, states of emails and the ways between them, events, and events that webhooks received. */
export class Coverage {
  readonly #seen: Readonly<Record<keyof CoverageReport, Set<string>>> = {
    errorCodes: new Set(),
    emailStates: new Set(),
    emailTransitions: new Set(),
    eventTypes: new Set(),
    webhookEvents: new Set(),
    agentEvents: new Set(),
  };

  /** Notes an error that was answered, in whatever words: APIs of other services and SMTP have their own. */
  addError(code: ErrorCode): void {
    this.#seen.errorCodes.add(code);
  }

  /** Notes every error in an answer, also those of single emails in the answer to a batch. */
  addAnswer(body: unknown): void {
    if (typeof body !== "object" || body === null) return;
    for (const [name, value] of Object.entries(body)) {
      if (name === "error" && typeof value === "object" && value !== null && "code" in value && typeof value.code === "string")
        this.#seen.errorCodes.add(value.code);
      this.addAnswer(value);
    }
  }

  /** @internal */
  addChanges(changes: readonly Pick<StatusChange, "from" | "to">[]): void {
    for (const { from, to } of changes) {
      this.#seen.emailStates.add(from).add(to);
      this.#seen.emailTransitions.add(formatTransition(from, to));
    }
  }

  addEvents(events: readonly { readonly type: string }[]): void {
    for (const { type } of events) {
      this.#seen.eventTypes.add(type);
      // Emails begin there, and a campaign's have no event of it.
      if (type === "email.queued") this.#seen.emailStates.add("queued");
    }
  }

  /** Notes an event that a webhook has acknowledged. */
  addDelivery(receiver: "webhookEvents" | "agentEvents", type: string): void {
    this.#seen[receiver].add(type);
  }

  report(): CoverageReport {
    const look = (name: keyof CoverageReport): Reached => {
      const list: readonly string[] = LISTS[name];
      const seen = this.#seen[name];
      return { reached: list.filter((one) => seen.has(one)), never: list.filter((one) => !seen.has(one)) };
    };
    return {
      errorCodes: look("errorCodes"),
      emailStates: look("emailStates"),
      emailTransitions: look("emailTransitions"),
      eventTypes: look("eventTypes"),
      webhookEvents: look("webhookEvents"),
      agentEvents: look("agentEvents"),
    };
  }
}

function formatTransition(from: string, to: string): string {
  return `${from} → ${to}`;
}
