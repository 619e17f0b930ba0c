/** What cases are about. Those of `state` need a running agent and a marketplace. */
export type Group = "state" | "signature" | "events" | "body" | "order" | "robustness";

/** One thing a receiver must do, as a request or several and what must come back. */
export interface ConformanceCase {
  /** Unique and stable, for example `signature-missing`. */
  readonly id: string;
  readonly group: Exclude<Group, "state">;
  /** What the receiver must do, as a sentence. */
  readonly title: string;
  /** What a receiver that fails has probably done. */
  readonly mistake: string;
  readonly fix: string;
  /** The requests, sent in this order; those of an inner list at the same time. */
  readonly requests: readonly (CaseRequest | readonly CaseRequest[])[];
  /** Says what is wrong with the answers, which are in the order of the requests; null when nothing is. */
  readonly judge: (answers: readonly Answer[]) => string | null;
}

/** A request of a case. */
export interface CaseRequest {
  readonly method: "POST" | "GET" | "PUT";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  /** Sends the body in chunks, without a length. */
  readonly chunked?: boolean;
  /** Sends it again, as the service does, while the answer is 503: another copy is being handled. */
  readonly repeat?: boolean;
}

/** What came back. */
export interface Answer {
  /** Null when there was no answer: the connection failed, or time was up. */
  readonly status: number | null;
  readonly body: string;
  /** How long it took, ms. */
  readonly ms: number;
  /** Why there was no answer. */
  readonly error: string | null;
}

/** The service waits this long for an answer, ms (docs/agents-webhooks.md#retries). */
export const DEADLINE_MS = 8000;

/** Every answer must be a 2xx. */
export function accepted(answers: readonly Answer[]): string | null {
  return findFault(answers, ({ status }) => (status !== null && status >= 200 && status < 300 ? null : `answered ${status}, not a 2xx`));
}

/** Every answer must be 401. */
export function rejected(answers: readonly Answer[]): string | null {
  return findFault(answers, ({ status }) => (status === 401 ? null : `answered ${status}, not 401`));
}

/** Every answer must be there, and no 5xx. */
export function noFailure(answers: readonly Answer[]): string | null {
  return findFault(answers, ({ status }) =>
    status !== null && status < 500 ? null : `answered ${status}, a failure of the receiver itself`,
  );
}

function findFault(answers: readonly Answer[], fault: (answer: Answer) => string | null): string | null {
  for (const [i, answer] of answers.entries()) {
    const which = answers.length > 1 ? `request ${i + 1} of ${answers.length} ` : "it ";
    if (answer.status === null) return `${which}got no answer: ${answer.error}`;
    if (answer.ms > DEADLINE_MS) return `${which}was answered after ${Math.round(answer.ms)} ms; the service waits ${DEADLINE_MS}`;
    const found = fault(answer);
    if (found) return which + found;
  }
  return null;
}
