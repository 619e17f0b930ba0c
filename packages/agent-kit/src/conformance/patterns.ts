import { EVENT_TYPES } from "../testing/sample-events.ts";
import { MISSING_SKIPS, NO_CHECK, RAW_BODY, STRICT } from "./advice.ts";
import type { Advice, AnswerKind, Fault } from "./case.ts";

/** The faults of all cases that were graded; null for a case that passed. */
type Faults = ReadonlyMap<string, Fault | null>;

/** A mistake that shows in several cases at once. */
interface Pattern {
  readonly advice: (faults: Seen) => Advice;
  /** True if this receiver has made the mistake. */
  readonly applies: (faults: Seen) => boolean;
  /** True if the mistake explains the fault of this case. */
  readonly explains: (id: string, kind: AnswerKind, seen: Seen) => boolean;
}

/** Reads faults by the ids of their cases. */
class Seen {
  readonly faults: Faults;

  constructor(faults: Faults) {
    this.faults = faults;
  }

  /** The kind of the wrong answer; null when the case passed or was not graded. */
  kind(id: string): AnswerKind | null {
    return this.faults.get(id)?.kind ?? null;
  }

  passed(...ids: string[]): boolean {
    return ids.every((id) => this.faults.get(id) === null);
  }

  /** True if all of these forged requests were accepted. */
  accepted(...ids: string[]): boolean {
    return ids.every((id) => this.kind(id) === "accepted");
  }

  /** True if all of these valid requests were refused as forged. */
  refused(...ids: string[]): boolean {
    return ids.every((id) => isRefusal(this.kind(id)));
  }

  /** The kinds of the wrong answers to cases that begin with a prefix, without those of cases that passed. */
  kinds(prefix: string): AnswerKind[] {
    return [...this.faults].flatMap(([id, fault]) => (id.startsWith(prefix) && fault ? [fault.kind] : []));
  }

  count(prefix: string): number {
    return [...this.faults.keys()].filter((id) => id.startsWith(prefix)).length;
  }
}

const isRefusal = (kind: AnswerKind | null): boolean => kind !== null && ["unauthorized", "forbidden", "invalid"].includes(kind);
const isFailure = (kind: AnswerKind | null): boolean => kind === "failed" || kind === "closed" || kind === "busy";
const isSignature = (id: string): boolean => id.startsWith("signature-");

/** Cases that a loose comparison accepts. */
const LOOSE = ["truncated", "prefix-only", "extended", "not-hex", "labelled", "separated"].map((name) => `signature-${name}`);
/** Signatures of the length of a right one. */
const SAME_LENGTH = ["random", "zeros", "other-secret"].map((name) => `signature-${name}`);
/** Signatures of other lengths. */
const OTHER_LENGTH = ["empty", "truncated", "prefix-only", "extended"].map((name) => `signature-${name}`);
/** Bodies under a signature that are no JSON. */
const UNREADABLE = ["signature-empty-body", "signature-half"];
/** Types that no receiver knows. */
const TYPES = ["event-unknown-type", "robust-inherited-type", "robust-type-number", "robust-no-type"];
/** Cases of repeats, and the case that shows if the event itself is accepted. */
const REPEATS = new Map([
  ["order-repeat", "event-approval_response-approved"],
  ["order-parallel", "event-message.posted"],
  ["order-activated-twice", "event-agent.activated"],
  ["order-failed-run-twice", "event-run_force_failed"],
]);
/** Cases of many requests at the same time. */
const AT_ONCE = ["order-parallel", "order-burst"];
/** Fewer refused types are told one by one. */
const MANY_TYPES = 3;

/** Patterns in order: the first that explains a fault is named. */
const PATTERNS: readonly Pattern[] = [
  {
    advice: () => NO_CHECK,
    applies: (seen) => seen.accepted("signature-random", "signature-missing"),
    explains: isSignature,
  },
  {
    advice: () => ({
      mistake: "The signature is looked at but not compared: any text in the header is accepted.",
      fix: "Compute the HMAC-SHA256 of the raw body with the secret, and compare it with the header in constant time.",
    }),
    applies: (seen) => seen.accepted(...SAME_LENGTH),
    explains: isSignature,
  },
  {
    advice: () => ({
      mistake: "An empty signature matches: only as many digits are compared as the header has.",
      fix: STRICT.fix,
    }),
    applies: (seen) => seen.accepted("signature-empty", "signature-prefix-only"),
    explains: isSignature,
  },
  {
    advice: () => MISSING_SKIPS,
    applies: (seen) => seen.accepted("signature-missing") && seen.passed("signature-random"),
    explains: (id, kind) =>
      ["signature-missing", "signature-empty", "signature-old", "signature-only-event-headers"].includes(id) && kind === "accepted",
  },
  {
    advice: () => ({
      mistake: "Characters that are no hex digits are dropped from the signature before it is compared.",
      fix: STRICT.fix,
    }),
    applies: (seen) => seen.accepted("signature-separated") && seen.passed("signature-truncated"),
    explains: (id, kind) => LOOSE.includes(id) && kind === "accepted",
  },
  {
    advice: () => STRICT,
    applies: (seen) => LOOSE.some((id) => seen.accepted(id)),
    explains: (id, kind) => LOOSE.includes(id) && kind === "accepted",
  },
  {
    advice: () => ({
      mistake:
        "The body is decoded to text before it is verified, and bytes that are no UTF-8 are replaced or dropped: other bytes than were signed pass.",
      fix: "Compute the HMAC over the raw bytes of the request; decode them afterwards.",
    }),
    applies: (seen) => seen.accepted("signature-replaced-bytes") && seen.passed("signature-random"),
    explains: (id) => id === "signature-replaced-bytes" || id === "robust-not-utf8",
  },
  {
    advice: (seen) => ({
      mistake: `Fields that the receiver does not know make it ${isFailure(seen.kind("event-unknown-field")) ? "throw" : "refuse the event"}: a field it does not know may come with any version.`,
      fix: "Ignore fields you do not need, and answer 2xx: the service adds fields without a new version.",
    }),
    applies: (seen) => seen.kind("event-unknown-field") !== null && seen.passed("control", "body-pretty"),
    explains: (id, kind, seen) =>
      /^(?:event-(?!unknown-(?:type|reason))|order-|body-|robust-proto|robust-deep)/.test(id) && kind === seen.kind("event-unknown-field"),
  },
  {
    advice: () => RAW_BODY,
    applies: (seen) => seen.refused("body-pretty", "body-numbers") || seen.accepted("signature-reserialised"),
    explains: (id, kind) =>
      isSignature(id) ? kind === "accepted" : isRefusal(kind) || (kind !== null && isFailure(kind) && id.startsWith("robust-")),
  },
  {
    advice: () => ({
      mistake: "Line ends are changed before the body is verified: CRLF becomes LF.",
      fix: RAW_BODY.fix,
    }),
    applies: (seen) => seen.refused("body-crlf") && seen.passed("body-pretty"),
    explains: (id) => id === "body-crlf",
  },
  {
    advice: () => ({
      mistake: "The body is trimmed before it is verified: spaces and line breaks at its ends are dropped.",
      fix: RAW_BODY.fix,
    }),
    applies: (seen) => seen.passed("body-pretty") && (seen.refused("body-trailing-newline") || seen.accepted("signature-newline")),
    explains: (id) => id === "body-trailing-newline" || id === "signature-newline",
  },
  {
    advice: () => ({
      mistake:
        "The body is decoded with another charset than UTF-8, such as Latin-1 or ASCII, before it is verified: every letter beyond ASCII breaks the signature.",
      fix: "Compute the HMAC over the raw bytes of the request; decode them as UTF-8 afterwards.",
    }),
    // The same texts in escapes, and fields that are not known, are no matter.
    applies: (seen) => seen.refused("body-unicode", "body-separators") && seen.passed("body-pretty", "body-escapes", "event-unknown-field"),
    explains: (id, kind) => !isSignature(id) && isRefusal(kind),
  },
  {
    advice: () => ({
      mistake: "A body sent in chunks is not read: it is taken to be empty when there is no Content-Length.",
      fix: "Read the body to its end whether or not it has a length.",
    }),
    applies: (seen) => seen.kind("body-chunked") !== null && seen.passed("body-pretty"),
    explains: (id) => id === "body-chunked",
  },
  {
    advice: () => ({
      mistake: "The body is parsed before its signature is verified: what is no JSON is not answered with 401.",
      fix: "Verify the raw bytes first and answer 401; parse what is signed, and answer 400 when that fails.",
    }),
    applies: (seen) =>
      UNREADABLE.every((id) => isFailure(seen.kind(id)) || seen.kind(id) === "invalid") &&
      seen.passed("signature-random", "signature-truncated", "signature-missing"),
    explains: (id, kind) =>
      [...UNREADABLE, "signature-replaced-bytes", "signature-only-event-headers"].includes(id) ||
      (isFailure(kind) && id.startsWith("robust-")),
  },
  {
    advice: (seen) => ({
      mistake: `A wrong signature is refused, but with ${nameOf(seen.kinds("signature-"))} in place of 401.`,
      fix: "Answer 401 to a request whose signature is wrong or missing: the service tells the builder then that the secret is wrong.",
    }),
    applies: (seen) =>
      seen.count("signature-") > 1 &&
      seen.kinds("signature-").length > seen.count("signature-") / 2 &&
      seen.kinds("signature-").every((kind) => kind !== "accepted" && !isFailure(kind)),
    explains: isSignature,
  },
  {
    advice: () => ({
      mistake: "Every wrong signature ends in an exception that nothing catches, and is answered with a failure in place of 401.",
      fix: "Catch the exception of the verification and answer 401.",
    }),
    applies: (seen) => SAME_LENGTH.every((id) => isFailure(seen.kind(id))),
    explains: (id, kind) => isSignature(id) && isFailure(kind),
  },
  {
    advice: () => ({
      mistake: "A signature of another length makes the comparison throw, and nothing catches it.",
      fix: "Compare the lengths first, or check for exactly 64 hex digits, and answer 401: comparing buffers of different lengths throws.",
    }),
    applies: (seen) => OTHER_LENGTH.filter((id) => isFailure(seen.kind(id))).length > 1,
    explains: (id, kind) => isSignature(id) && isFailure(kind),
  },
  {
    advice: () => ({
      mistake: "A missing signature header makes the receiver throw.",
      fix: "Treat a missing signature like a wrong one: answer 401.",
    }),
    applies: (seen) => isFailure(seen.kind("signature-missing")),
    explains: (id, kind) => isSignature(id) && isFailure(kind),
  },
  {
    advice: () => ({
      mistake: "test.ping is not handled: other events are accepted, and this one is not.",
      fix: "Answer 2xx to test.ping, which the service sends to see whether the webhook works, and to every type you do nothing about.",
    }),
    applies: (seen) => seen.kind("control") !== null && seen.kind("event-test.ping") !== null,
    explains: (id) => ["control", "event-test.ping", "order-unknown-activation"].includes(id),
  },
  {
    advice: (seen) => ({
      mistake: `${isFailure(seen.kind(refusedTypes(seen)[0] ?? "")) ? "The receiver throws at" : "The receiver refuses"} events that the service sends: ${nameTypes(seen)}.`,
      fix: "Answer 2xx to every event with a right signature, whatever its fields and the state of its activation, and do nothing about those you do not need.",
    }),
    applies: (seen) => seen.passed("control") && new Set(refusedTypes(seen).map(typeOf)).size >= MANY_TYPES,
    explains: (id, kind, seen) =>
      (id.startsWith("event-") || id.startsWith("order-")) && id !== "order-burst" && kind === seen.kind(refusedTypes(seen)[0] ?? ""),
  },
  {
    advice: () => ({
      mistake: "Events are handled one after the other, and the last of several at the same time run into the time limit.",
      fix: "Store the event, answer 2xx, and work afterwards.",
    }),
    applies: (seen) => AT_ONCE.some((id) => seen.kind(id) === "slow") && seen.passed("control"),
    explains: (id, kind) => AT_ONCE.includes(id) && kind === "slow",
  },
  {
    advice: () => ({
      mistake: "Only the beginning of a large body is read: the signature of the whole does not match it.",
      fix: "Read the body to its end before you verify: bodies have up to 1 MB.",
    }),
    applies: (seen) => seen.refused("body-1mb") && seen.passed("body-pretty", "body-unicode", "body-chunked"),
    explains: (id, kind) => ["body-200kb", "body-1mb"].includes(id) && isRefusal(kind),
  },
  {
    advice: (seen) => ({
      mistake: isFailure(seen.kind("event-unknown-type"))
        ? "An exception while the receiver handles a type it does not know is not caught."
        : "The receiver insists on what it knows today and refuses a type it does not know.",
      fix: "Answer 2xx to types you do nothing about: the service adds types without a new version.",
    }),
    applies: (seen) => seen.kind("event-unknown-type") !== null && seen.passed("event-unknown-field"),
    explains: (id, kind, seen) => TYPES.includes(id) && kind === seen.kind("event-unknown-type"),
  },
  {
    advice: () => ({
      mistake: "A repeated event is treated as an error.",
      fix: "Remember the keys of events you have handled, and answer 2xx to repeats without doing the work again.",
    }),
    applies: (seen) => seen.kind("order-repeat") !== null && seen.passed(REPEATS.get("order-repeat") ?? ""),
    explains: (id, kind, seen) => kind !== "slow" && kind !== "limited" && seen.passed(REPEATS.get(id) ?? ""),
  },
];

/** Explains the faults of a receiver, by the ids of their cases. Faults that match no pattern are missing. */
export function explain(faults: Faults): Map<string, Advice> {
  const seen = new Seen(faults);
  const found = new Map<string, Advice>();
  for (const pattern of PATTERNS) {
    if (!pattern.applies(seen)) continue;
    for (const [id, fault] of faults)
      if (fault && !found.has(id) && pattern.explains(id, fault.kind, seen)) found.set(id, pattern.advice(seen));
  }
  return found;
}

/** The cases of known types, each with what the service sends, whose answers are wrong as the first one is. */
function refusedTypes(seen: Seen): string[] {
  const known = EVENT_TYPES.filter((type) => type !== "test.ping");
  const failed = [...seen.faults].filter(([id, fault]) => fault && known.includes(typeOf(id) as (typeof known)[number]));
  return failed.filter(([, fault]) => fault?.kind === failed[0]?.[1]?.kind).map(([id]) => id);
}

/** The type that a case of events is about, without its reason or decision. */
function typeOf(id: string): string {
  return id.replace(/^event-/, "").replace(/-.*/, "");
}

function nameTypes(seen: Seen): string {
  return [...new Set(refusedTypes(seen).map(typeOf))].join(", ");
}

function nameOf(kinds: readonly AnswerKind[]): string {
  const names: Partial<Record<AnswerKind, string>> = {
    forbidden: "403",
    missing: "404",
    invalid: "400",
    method: "405",
    redirected: "a redirect",
  };
  return names[kinds[0] ?? "invalid"] ?? "another status";
}
