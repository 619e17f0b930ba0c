import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { MISSING_SKIPS, NO_CHECK, RAW_BODY, STRICT } from "./advice.ts";
import type { Advice, Answer, CaseRequest, ConformanceCase } from "./case.ts";
import { bytes, type CheckInput, SIGNATURE, STANDARD, sign, signedAs, without } from "./requests.ts";

type Forge = (request: CaseRequest, text: string) => CaseRequest;

/** Requests that must be refused with 401. */
export function listSignatureCases(input: CheckInput): ConformanceCase[] {
  return [...listWrongKeys(input), ...listWrongForms(input), ...listWrongBodies(input), replacedBytesCase(input), leakCase(input)];
}

type Make = (id: string, title: string, forge: Forge, accepted?: Advice) => ConformanceCase;

/** Makes a case of a request that is forged from one that everything is right about. */
function maker({ secret, now, samples }: CheckInput): Make {
  return (id, title, forge, accepted = NO_CHECK) => {
    const text = JSON.stringify(samples.plain());
    return {
      id: `signature-${id}`,
      group: "signature",
      title,
      about: title.replace(/^refuses |^trusts no header: /, ""),
      expects: "refused",
      advice: { accepted },
      requests: [forge(sign(text, secret, now), text)],
    };
  };
}

const HOUR_MS = 3_600_000;

const hmac = (key: string | Uint8Array, body: string | Uint8Array, algorithm = "sha256") => createHmac(algorithm, key).update(body);

/** Signatures that are missing, or made with another key. */
function listWrongKeys(input: CheckInput): ConformanceCase[] {
  const make = maker(input);
  const { secret } = input;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return [
    make("missing", "refuses a request without a signature", (r) => without(r, SIGNATURE, ...STANDARD), MISSING_SKIPS),
    make("empty", "refuses an empty signature", (r) => signedAs(r, "")),
    make("random", "refuses 64 arbitrary hex digits", (r) => signedAs(r, "ab".repeat(32))),
    make("zeros", "refuses a signature of zeros", (r) => signedAs(r, "0".repeat(64)), {
      mistake: "A digest that could not be computed is compared as zeros.",
      fix: "Fail when the secret is missing; never compare with an empty digest.",
    }),
    make("other-secret", "refuses a signature made with another secret", (r, text) => signedAs(r, hmac(`${secret}x`, text).digest("hex"))),
    make("empty-secret", "refuses a signature made with an empty secret", (r, text) => signedAs(r, hmac("", text).digest("hex")), {
      mistake: "The receiver runs without its secret: the variable is not set, so an empty key signs everything.",
      fix: "Refuse to start without a secret.",
    }),
    make(
      "undefined-secret",
      "refuses a signature made with the word undefined",
      (r, text) => signedAs(r, hmac("undefined", text).digest("hex")),
      {
        mistake: "The secret is not set and was turned into the text `undefined`.",
        fix: "Refuse to start without a secret.",
      },
    ),
    make("stripped-secret", "refuses a signature made without the secret's prefix", (r, text) =>
      signedAs(r, hmac(secret.replace(/^whsec_/, ""), text).digest("hex")),
    ),
    make("decoded-secret", "refuses a signature made with the decoded secret", (r, text) => signedAs(r, hmac(key, text).digest("hex"))),
  ];
}

/** Signatures that are right in part, or in another form. */
function listWrongForms(input: CheckInput): ConformanceCase[] {
  const make = maker(input);
  const { secret } = input;
  return [
    make("truncated", "refuses a signature that is cut short", (r) => signedAs(r, (r.headers[SIGNATURE] ?? "").slice(0, 63)), STRICT),
    make(
      "prefix-only",
      "refuses the first eight digits of the right signature",
      (r) => signedAs(r, (r.headers[SIGNATURE] ?? "").slice(0, 8)),
      STRICT,
    ),
    make("extended", "refuses a signature with more after it", (r) => signedAs(r, `${r.headers[SIGNATURE]}00`), STRICT),
    make(
      "not-hex",
      "refuses a signature with a digit that is none",
      (r) => signedAs(r, `${(r.headers[SIGNATURE] ?? "").slice(0, 63)}z`),
      STRICT,
    ),
    make(
      "separated",
      "refuses the digits with other characters between them",
      (r) => signedAs(r, (r.headers[SIGNATURE] ?? "").replace(/^.{32}/, "$&zz")),
      STRICT,
    ),
    make("labelled", "refuses `sha256=` before the digits", (r) => signedAs(r, `sha256=${r.headers[SIGNATURE]}`), STRICT),
    make("base64", "refuses the digest in base64", (r, text) => signedAs(r, hmac(secret, text).digest("base64")), STRICT),
    make("sha1", "refuses an HMAC with SHA-1", (r, text) => signedAs(r, hmac(secret, text, "sha1").digest("hex")), STRICT),
    make("sha512", "refuses an HMAC with SHA-512", (r, text) => signedAs(r, hmac(secret, text, "sha512").digest("hex")), STRICT),
    make("plain-hash", "refuses a hash without a key", (r, text) => signedAs(r, hmac("", secret + text).digest("hex"))),
    make(
      "old",
      "refuses the Standard Webhooks signature of an attempt an hour ago",
      (_, text) => without(sign(text, secret, input.now - HOUR_MS), SIGNATURE),
      {
        mistake: "The time of the attempt is not looked at: whoever has recorded a request can send it again for ever.",
        fix: "With webhook-signature, refuse a webhook-timestamp that is more than five minutes from now.",
      },
    ),
    make("standard-in-place", "refuses the Standard Webhooks signature in this header", (r) =>
      signedAs(r, r.headers["webhook-signature"] ?? ""),
    ),
  ];
}

/** Bodies that are not those that were signed. */
function listWrongBodies(input: CheckInput): ConformanceCase[] {
  const make = maker(input);
  const parsed = (text: string): object => JSON.parse(text) as object;
  return [
    make(
      "reserialised",
      "refuses a signature of the body written again with spaces",
      (r, text) => ({
        ...r,
        body: bytes(JSON.stringify(parsed(text), null, 2)),
      }),
      RAW_BODY,
    ),
    make(
      "sorted",
      "refuses a signature of the same fields in another order",
      (r, text) => ({
        ...r,
        body: bytes(JSON.stringify(Object.fromEntries(Object.entries(parsed(text)).reverse()))),
      }),
      RAW_BODY,
    ),
    make("newline", "refuses a body with a newline that was not signed", (r, text) => ({ ...r, body: bytes(`${text}\n`) }), RAW_BODY),
    make("changed", "refuses a body in which one letter changed", (r, text) => ({
      ...r,
      body: bytes(text.replace(/"type":"[^"]+"/, '"type":"test.pong"')),
    })),
    make("other-event", "refuses the signature of another event", (r) => ({
      ...r,
      body: bytes(JSON.stringify(input.samples.event("agent.deactivated"))),
    })),
    make("empty-body", "refuses an empty body under the signature of another one", (r) => ({ ...r, body: bytes("") })),
    make("half", "refuses half of a signed body", (r, text) => ({ ...r, body: bytes(text.slice(0, text.length / 2)) })),
    make("only-event-headers", "trusts no header: a type in a header does not replace the signature", (r) => ({
      ...without(r, SIGNATURE, ...STANDARD),
      headers: { ...without(r, SIGNATURE, ...STANDARD).headers, "x-service-event-type": "test.ping", "x-forwarded-for": "127.0.0.1" },
    })),
  ];
}

function leakCase({ secret, now }: CheckInput): ConformanceCase {
  return {
    id: "signature-leak",
    group: "signature",
    title: "keeps the secret and the right signature out of its answers",
    about: "a wrong signature",
    expects: "refused",
    advice: {
      unauthorized: {
        mistake: "The answer to a wrong signature says which one was expected.",
        fix: "Answer 401 with a short fixed text.",
      },
    },
    requests: [signedAs(sign("{}", secret, now), "ab".repeat(32))],
    inspect: (answers: readonly Answer[]) => {
      const right = hmac(secret, "{}").digest("hex");
      const leaked = answers.some(({ body }) => body.includes(right) || body.includes(secret));
      return leaked ? "the answer contains the expected signature or the secret" : null;
    },
  };
}

/** Signatures of what becomes of a body when it is decoded to text, and bytes that are no UTF-8 are replaced or dropped. */
function replacedBytesCase({ secret, now, samples }: CheckInput): ConformanceCase {
  const forge = (instead: string): CaseRequest => {
    const [before = "", after = ""] = JSON.stringify({ ...samples.plain(), note: "#" }).split("#");
    const body = Buffer.concat([bytes(before), Uint8Array.of(0xff), bytes(after)]);
    const signature = createHmac("sha256", secret).update(`${before}${instead}${after}`).digest("hex");
    return signedAs({ ...sign(before, secret, now), body }, signature);
  };
  return {
    id: "signature-replaced-bytes",
    group: "signature",
    title: "refuses bytes that are no UTF-8 under the signature of the text they are decoded to",
    about: "bytes that are no UTF-8",
    expects: "refused",
    advice: { accepted: RAW_BODY },
    requests: [forge("\ufffd"), forge("")],
  };
}
