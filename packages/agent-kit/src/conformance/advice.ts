import type { Advice, AnswerKind, ConformanceCase } from "./case.ts";

export const RAW_BODY: Advice = {
  mistake: "The signature is computed over a body that was parsed and written again, so other bytes are signed than arrived.",
  fix: "Keep the raw bytes of the request and verify those, before any JSON parsing.",
};
export const NO_CHECK: Advice = {
  mistake: "The signature is not checked, or a failed check is only logged.",
  fix: "Verify before anything else and answer 401 when it fails.",
};
export const MISSING_SKIPS: Advice = {
  mistake: "A missing header skips the check.",
  fix: "Treat a missing signature like a wrong one: answer 401.",
};
export const STRICT: Advice = {
  mistake: "The signature is compared loosely: by its beginning, after trimming, or without a look at its length.",
  fix: "Accept exactly 64 hex digits, decode them, and compare all 32 bytes in constant time.",
};
const SLOW: Advice = {
  mistake: "The work on the event is done before the answer, which comes after the eight seconds that the service waits.",
  fix: "Store the event, answer 2xx, and work afterwards.",
};
const ENDED: Advice = {
  mistake: "The receiver is no longer there: its process has ended at a request before this one.",
  fix: "Catch exceptions for each request. Look at the log for the last request it saw.",
};

/** Returns the likely mistake of a receiver that answered a case wrongly, judging by the answer alone. */
export function adviseByAnswer({ about, expects, advice }: ConformanceCase, kind: AnswerKind): Advice {
  const known = advice?.[kind];
  if (known) return known;
  const always = ALWAYS[kind];
  if (always) return always(about);
  return expects === "refused" ? adviseForged(kind) : adviseRight(about, kind);
}

/** Answers that mean the same whatever was asked. */
const ALWAYS: Readonly<Partial<Record<AnswerKind, (about: string) => Advice>>> = {
  slow: () => SLOW,
  gone: () => ENDED,
  closed: (about) => ({
    mistake: `The receiver closes the connection without an answer, as a process does that ends with an exception at ${about}.`,
    fix: "Catch exceptions for each request and answer 400 or 500.",
  }),
  redirected: () => ({
    mistake: "The receiver redirects. The service follows no redirects, since a signed request must arrive where it was listed.",
    fix: "List the address that answers itself: look at https, a slash at the end and www.",
  }),
  limited: (about) => ({
    mistake: `A rate limit answers ${about} with 429.`,
    fix: "Exempt the webhook from rate limits, or verify the signature before counting.",
  }),
  method: () => ({ mistake: "The address does not take POST.", fix: "Route POST of this path to the receiver." }),
  length: (about) => ({
    mistake: `A body without Content-Length is refused: ${about}.`,
    fix: "Read the body to its end whether or not it has a length.",
  }),
};

/** A forged request was not answered with 401. */
function adviseForged(kind: AnswerKind): Advice {
  if (kind === "accepted") return NO_CHECK;
  if (kind === "failed" || kind === "busy")
    return {
      mistake: "An exception while the signature is verified is not caught.",
      fix: "Catch it and answer 401. Check that the header is there and has 64 hex digits before you compare, and parse nothing before.",
    };
  return {
    mistake: "A wrong signature is refused, but with another status than 401.",
    fix: "Answer 401 to a request whose signature is wrong or missing, and nothing else.",
  };
}

/** A request of the service was not accepted. */
function adviseRight(about: string, kind: AnswerKind): Advice {
  switch (kind) {
    case "unauthorized":
    case "forbidden":
      return {
        mistake: `The signature of ${about} is right, and the receiver takes it for wrong: other bytes are verified than arrived.`,
        fix: "Keep the raw bytes of the request and verify those, before any decoding or parsing.",
      };
    case "conflict":
      return {
        mistake: `The receiver answers ${about} with a conflict, as if it were an error.`,
        fix: "Answer 2xx to what you have handled already, without doing the work again.",
      };
    case "too_large":
      return { mistake: "The limit for request bodies is too small.", fix: "Allow at least 1 MB before you verify." };
    case "media_type":
      return {
        mistake: `The body is read only under one exact content type: ${about} is refused.`,
        fix: "Read the bytes whatever the headers say.",
      };
    case "failed":
    case "busy":
      return {
        mistake: `An exception while the receiver handles ${about} is not caught.`,
        fix: "Catch it. Answer 2xx when there is nothing to do; a 5xx makes the service try again.",
      };
    default:
      return {
        mistake: `The receiver insists on what it knows today and refuses ${about}.`,
        fix: "Ignore what you do not know or need, and answer 2xx: the service adds types, fields and values without a new version.",
      };
  }
}
