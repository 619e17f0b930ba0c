/** Topics of cases. Cases of `state` need a running agent and a marketplace. */
export type Group = "state" | "control" | "signature" | "events" | "body" | "order" | "robustness";

/** Likely mistake of a receiver, and its fix. */
export interface Advice {
  readonly mistake: string;
  readonly fix: string;
}

/** A fault with a cause of its own. */
export interface Explained extends Advice {
  readonly problem: string;
}

/** One thing a receiver must do, as a request or several and what must come back. */
export interface ConformanceCase {
  /** Unique and stable, for example `signature-missing`. */
  readonly id: string;
  readonly group: Exclude<Group, "state">;
  /** Duty of the receiver, as a sentence. */
  readonly title: string;
  /** Peculiarity of its requests, to be named in a sentence: "a type it does not know". */
  readonly about: string;
  /** Required answer to each request: a 2xx, 401, or anything but a failure. */
  readonly expects: "accepted" | "refused" | "survived";
  /** Likely mistake by kind of answer, where this case knows more than the answer tells. */
  readonly advice?: Readonly<Partial<Record<AnswerKind, Advice>>>;
  /** The requests, sent in this order; those of an inner list at the same time. */
  readonly requests: readonly (CaseRequest | readonly CaseRequest[])[];
  /** A connection that is closed without an answer is right as well. */
  readonly mayClose?: boolean;
  /** Says what is wrong with the text of the answers; null when nothing is. */
  readonly inspect?: (answers: readonly Answer[]) => string | null;
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

/** Answer to a request. */
export interface Answer {
  /** Null when there was no answer: the connection failed, or time was up. */
  readonly status: number | null;
  readonly body: string;
  /** Duration, ms. */
  readonly ms: number;
  /** Reason there was no answer. */
  readonly error: string | null;
}

/** Meaning of an answer. */
export type AnswerKind =
  | "accepted"
  | "redirected"
  | "unauthorized"
  | "forbidden"
  | "missing"
  | "method"
  | "conflict"
  | "length"
  | "too_large"
  | "media_type"
  | "limited"
  | "invalid"
  | "busy"
  | "failed"
  | "slow"
  | "gone"
  | "closed";

/** The answer of a case that is wrong. */
export interface Fault {
  readonly problem: string;
  readonly kind: AnswerKind;
}

/** The service waits this long for an answer, ms (docs/agents-webhooks.md#retries). */
export const DEADLINE_MS = 8000;

const KINDS: Readonly<Record<number, AnswerKind>> = {
  401: "unauthorized",
  403: "forbidden",
  404: "missing",
  405: "method",
  409: "conflict",
  410: "missing",
  411: "length",
  413: "too_large",
  415: "media_type",
  429: "limited",
  // Python's http.server says so.
  501: "method",
  503: "busy",
};

/** Returns the meaning of an answer to the service. */
export function kindOf({ status, ms, error }: Answer): AnswerKind {
  if (status === null) return /within/.test(error ?? "") ? "slow" : error === "ECONNREFUSED" ? "gone" : "closed";
  if (ms > DEADLINE_MS) return "slow";
  if (status >= 200 && status < 300) return "accepted";
  if (status < 400) return "redirected";
  return KINDS[status] ?? (status < 500 ? "invalid" : "failed");
}

/** The first answer that is not what the case expects; null when none is. */
export function findFault(one: ConformanceCase, answers: readonly Answer[]): Fault | null {
  for (const [i, answer] of answers.entries()) {
    const kind = kindOf(answer);
    if (one.mayClose && kind === "closed") continue;
    const wanted = problemOf(one.expects, kind, answer.status);
    if (wanted === null) continue;
    const which = answers.length > 1 ? `request ${i + 1} of ${answers.length} ` : "it ";
    if (answer.status === null) return { kind, problem: `${which}got no answer: ${answer.error}` };
    if (kind === "slow")
      return { kind, problem: `${which}was answered after ${Math.round(answer.ms)} ms; the service waits ${DEADLINE_MS}` };
    return { kind, problem: which + wanted };
  }
  const problem = one.inspect?.(answers) ?? null;
  return problem === null ? null : { kind: kindOf(answers[0] as Answer), problem };
}

function problemOf(expects: ConformanceCase["expects"], kind: AnswerKind, status: number | null): string | null {
  if (["slow", "gone", "closed"].includes(kind)) return "";
  if (expects === "accepted") return kind === "accepted" ? null : `answered ${status}, not a 2xx`;
  if (expects === "refused") return kind === "unauthorized" ? null : `answered ${status}, not 401`;
  return kind === "failed" || kind === "busy" ? `answered ${status}, a failure of the receiver itself` : null;
}
