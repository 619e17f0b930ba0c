import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { EVENT_TYPES, sampleEvent, sampleEvents } from "../testing/sample-events.ts";
import { signedRequest } from "../testing/signed-request.ts";
import { type Answer, accepted, type CaseRequest, type ConformanceCase, noFailure, rejected } from "./case.ts";

const SIGNATURE = "x-service-signature";
const STANDARD = ["webhook-id", "webhook-timestamp", "webhook-signature"];

const RAW_BODY = {
  mistake: "The signature is computed over a body that was parsed and written again, so other bytes are signed than arrived.",
  fix: "Keep the raw bytes of the request and verify those, before any JSON parsing.",
};
const NO_CHECK = {
  mistake: "The signature is not checked, or a failed check is only logged.",
  fix: "Verify before anything else and answer 401 when it fails.",
};
const STRICT = {
  mistake: "The signature is compared loosely: by its beginning, after trimming, or without a look at its length.",
  fix: "Accept exactly 64 hex digits, decode them, and compare all 32 bytes in constant time.",
};
const UNKNOWN = {
  mistake: "The receiver insists on the types and fields it knows today.",
  fix: "Ignore what you do not know and answer 2xx: the service adds types and fields without a new version.",
};
const REPEATS = {
  mistake: "A repeated event is treated as an error.",
  fix: "Remember the keys of events you have handled, and answer 2xx to repeats without doing the work again.",
};
const UNREADABLE = {
  mistake: "An exception while the body is read is not caught.",
  fix: "Catch it and answer 400; a 5xx makes the service try again.",
};

/** All cases for a receiver with this secret. `now` is the time in ms since 1970. */
export function listCases(secret: string, now: number): ConformanceCase[] {
  return [
    ...listSignatureCases(secret, now),
    ...listEventCases(secret, now),
    ...listBodyCases(secret, now),
    ...listOrderCases(secret, now),
    ...listRobustnessCases(secret, now),
  ];
}

type Forge = (request: CaseRequest, text: string) => CaseRequest;

function listSignatureCases(secret: string, now: number): ConformanceCase[] {
  const make = (id: string, title: string, forge: Forge, advice: { mistake: string; fix: string } = NO_CHECK): ConformanceCase => {
    const text = JSON.stringify(sampleEvent("test.ping"));
    return {
      id: `signature-${id}`,
      group: "signature",
      title,
      ...advice,
      requests: [forge(sign(text, secret, now), text)],
      judge: rejected,
    };
  };
  const hmac = (key: string | Uint8Array, body: string | Uint8Array, algorithm = "sha256") => createHmac(algorithm, key).update(body);
  const parsed = (text: string): object => JSON.parse(text) as object;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return [
    make("missing", "refuses a request without a signature", (r) => without(r, SIGNATURE, ...STANDARD), {
      mistake: "A missing header skips the check.",
      fix: "Treat a missing signature like a wrong one: answer 401.",
    }),
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
    make("labelled", "refuses `sha256=` before the digits", (r) => signedAs(r, `sha256=${r.headers[SIGNATURE]}`), STRICT),
    make("base64", "refuses the digest in base64", (r, text) => signedAs(r, hmac(secret, text).digest("base64")), STRICT),
    make("sha1", "refuses an HMAC with SHA-1", (r, text) => signedAs(r, hmac(secret, text, "sha1").digest("hex")), STRICT),
    make("sha512", "refuses an HMAC with SHA-512", (r, text) => signedAs(r, hmac(secret, text, "sha512").digest("hex")), STRICT),
    make("plain-hash", "refuses a hash without a key", (r, text) => signedAs(r, hmac("", secret + text).digest("hex"))),
    make("standard-in-place", "refuses the Standard Webhooks signature in this header", (r) =>
      signedAs(r, r.headers["webhook-signature"] ?? ""),
    ),
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
      body: bytes(text.replace("test.ping", "test.pong")),
    })),
    make("other-event", "refuses the signature of another event", (r) => ({
      ...r,
      body: bytes(JSON.stringify(sampleEvent("agent.deactivated"))),
    })),
    make("empty-body", "refuses an empty body under the signature of another one", (r) => ({ ...r, body: bytes("") })),
    make("half", "refuses half of a signed body", (r, text) => ({ ...r, body: bytes(text.slice(0, text.length / 2)) })),
    make("only-event-headers", "trusts no header: a type in a header does not replace the signature", (r) => ({
      ...without(r, SIGNATURE, ...STANDARD),
      headers: { ...without(r, SIGNATURE, ...STANDARD).headers, "x-service-event-type": "test.ping", "x-forwarded-for": "127.0.0.1" },
    })),
    {
      id: "signature-leak",
      group: "signature",
      title: "keeps the secret and the right signature out of its answers",
      mistake: "The answer to a wrong signature says which one was expected.",
      fix: "Answer 401 with a short fixed text.",
      requests: [signedAs(sign("{}", secret, now), "ab".repeat(32))],
      judge: (answers: readonly Answer[]) => {
        const right = hmac(secret, "{}").digest("hex");
        const leaked = answers.find(({ body }) => body.includes(right) || body.includes(secret));
        return leaked ? "the answer contains the expected signature or the secret" : rejected(answers);
      },
    },
  ];
}

function listEventCases(secret: string, now: number): ConformanceCase[] {
  const base = { group: "events" as const, judge: accepted };
  const typed = sampleEvents().map((event): ConformanceCase => {
    const { type, reason, decision } = event as { type: string; reason?: string; decision?: string };
    const variant = reason ?? decision;
    return {
      ...base,
      id: `event-${type}${variant && type !== "agent.wakeup" ? `-${variant}` : ""}`,
      title: `accepts ${type}${variant && type !== "agent.wakeup" ? ` (${variant})` : ""}`,
      mistake: "The handler of this event throws, or the event is not routed.",
      fix: "Handle it, or answer 2xx when there is nothing to do.",
      requests: [sign(JSON.stringify(event), secret, now)],
    };
  });
  const ping = sampleEvent("test.ping") as object;
  const odd = (id: string, title: string, event: object): ConformanceCase => ({
    ...base,
    ...UNKNOWN,
    id: `event-${id}`,
    title,
    requests: [sign(JSON.stringify(event), secret, now)],
  });
  return [
    ...typed,
    odd("unknown-type", "accepts a type it does not know", { ...ping, type: "agent.renamed" }),
    odd("unknown-field", "accepts a field it does not know", { ...ping, addedLater: { deep: [1, 2, 3] } }),
    odd("unknown-reason", "accepts a reason it does not know", { ...sampleEvent("agent.paused"), reason: "added_later" }),
    odd("null-field", "accepts a null in an optional field", { ...sampleEvent("approval_response"), comment: null }),
    odd("no-run", "accepts an event that belongs to no run", { ...sampleEvent("message.posted"), runId: null }),
  ];
}

function listBodyCases(secret: string, now: number): ConformanceCase[] {
  const ping = sampleEvent("test.ping") as object;
  const make = (
    id: string,
    title: string,
    text: string | Uint8Array,
    extra: Partial<CaseRequest> = {},
    advice = RAW_BODY,
  ): ConformanceCase => {
    const request = sign(text, secret, now);
    return {
      id: `body-${id}`,
      group: "body",
      title,
      ...advice,
      requests: [{ ...request, ...extra, headers: { ...request.headers, ...extra.headers } }],
      judge: accepted,
    };
  };
  const parsing = {
    mistake: "The body is read only under one exact content type or length header.",
    fix: "Read the bytes whatever the headers say.",
  };
  const size = { mistake: "The limit for request bodies is too small.", fix: "Allow at least 1 MB before you verify." };
  return [
    make("pretty", "verifies a body with spaces and newlines as it arrived", JSON.stringify(ping, null, 2)),
    make("trailing-newline", "verifies a signed newline at the end", `${JSON.stringify(ping)}\n`),
    make("crlf", "verifies CRLF line ends", JSON.stringify(ping, null, 2).replaceAll("\n", "\r\n")),
    make("order", "verifies fields in another order", JSON.stringify(Object.fromEntries(Object.entries(ping).reverse()))),
    make("escapes", "verifies escaped and plain letters as they arrived", JSON.stringify({ ...ping, note: "é" }).replace("é", "\\u00e9")),
    make("slashes", "verifies escaped slashes", JSON.stringify({ ...ping, link: "https://example.com" }).replaceAll("/", "\\/")),
    make("unicode", "verifies emoji, combining marks and right-to-left text", JSON.stringify({ ...ping, note: "é ≠ é 👩‍🚀 שלום" })),
    make("separators", "verifies U+2028 and U+2029", JSON.stringify({ ...ping, note: "a\u2028b\u2029c" })),
    make(
      "numbers",
      "verifies numbers that JavaScript would write differently",
      JSON.stringify({ ...ping, amount: 0 }).replace('"amount":0', '"amount":1.50e3'),
    ),
    make(
      "large-number",
      "verifies integers beyond 2^53",
      JSON.stringify({ ...ping, amount: 0 }).replace('"amount":0', '"amount":9007199254740993'),
    ),
    make("duplicate-key", "verifies a repeated field", JSON.stringify(ping).replace("{", '{"note":1,"note":2,')),
    make("200kb", "accepts a body of 200 KB", JSON.stringify({ ...ping, note: "x".repeat(200_000) }), {}, size),
    make("1mb", "accepts a body of 1 MB", JSON.stringify({ ...ping, note: "x".repeat(1_000_000) }), {}, size),
    make("chunked", "accepts a body sent in chunks", JSON.stringify(ping), { chunked: true }, parsing),
    make(
      "charset",
      "accepts a content type with a charset",
      JSON.stringify(ping),
      { headers: { "content-type": "application/json; charset=utf-8" } },
      parsing,
    ),
    make(
      "upper-case",
      "accepts hex digits in capitals",
      JSON.stringify(ping),
      {
        headers: { [SIGNATURE]: createHmac("sha256", secret).update(JSON.stringify(ping)).digest("hex").toUpperCase() },
      },
      { mistake: "The hex text is compared letter by letter.", fix: "Decode the digits and compare bytes." },
    ),
  ];
}

function listOrderCases(secret: string, now: number): ConformanceCase[] {
  const request = (event: object, at = now) => sign(JSON.stringify(event), secret, at);
  const DAY = 86_400_000;
  const repeated = sampleEvent("approval_response") as object;
  const parallel = sampleEvent("message.posted") as object;
  const old = sampleEvent("agent.activated") as object;
  const failed = sampleEvent("run_force_failed") as object;
  const burst = Array.from({ length: 20 }, () => request(sampleEvent("test.ping") as object));
  const base = { group: "order" as const, judge: accepted };
  return [
    { ...base, ...REPEATS, id: "order-repeat", title: "accepts the same event twice", requests: [request(repeated), request(repeated)] },
    {
      ...base,
      ...REPEATS,
      id: "order-parallel",
      title: "accepts twenty copies at the same time",
      requests: [Array.from({ length: 20 }, () => request(parallel))],
    },
    {
      ...base,
      ...REPEATS,
      id: "order-activated-twice",
      title: "accepts a repeated agent.activated",
      requests: [request(old), request(old)],
    },
    {
      ...base,
      ...REPEATS,
      id: "order-failed-run-twice",
      title: "accepts run_force_failed for a run it has forgotten",
      requests: [request(failed), request(failed)],
    },
    {
      ...base,
      id: "order-replay",
      title: "accepts an event that was delayed by a day",
      mistake: "Events are refused by age. The service repeats an event for more than a day while a receiver is down.",
      fix: "Dedupe by key in place of refusing by age.",
      requests: [request({ ...(sampleEvent("agent.paused") as object), timestamp: new Date(now - DAY).toISOString() })],
    },
    {
      ...base,
      id: "order-reversed",
      title: "accepts agent.resumed before agent.paused",
      mistake: "The receiver expects events in order.",
      fix: "Compare sequence numbers and ignore what is older than what you know.",
      requests: [
        request({ ...(sampleEvent("agent.resumed") as object), sequence: 9 }),
        request({ ...(sampleEvent("agent.paused") as object), sequence: 8 }),
      ],
    },
    {
      ...base,
      id: "order-unknown-activation",
      title: "accepts events of an activation it has never seen",
      mistake: "An activation that is not stored makes the handler throw.",
      fix: "Answer 2xx and ignore it: its first event may have arrived while the receiver was down.",
      requests: EVENT_TYPES.filter((type) => type !== "agent.activated").map((type) =>
        request({ ...(sampleEvent(type) as object), activationId: "act_unknown" }),
      ),
    },
    {
      ...base,
      id: "order-burst",
      title: "answers twenty events at the same time",
      mistake: "Events are handled one after the other, and the last ones run into the time limit.",
      fix: "Store the event, answer 2xx, and work afterwards.",
      requests: [burst],
    },
  ];
}

function listRobustnessCases(secret: string, now: number): ConformanceCase[] {
  const make = (id: string, title: string, request: CaseRequest, judge = noFailure, advice = UNREADABLE): ConformanceCase => ({
    id: `robust-${id}`,
    group: "robustness",
    title,
    ...advice,
    requests: [request],
    judge,
  });
  const signed = (text: string | Uint8Array) => sign(text, secret, now);
  const plain = (method: CaseRequest["method"]): CaseRequest => ({ method, headers: {}, body: method === "GET" ? null : bytes("") });
  return [
    make("no-json", "survives a signed body that is no JSON", signed("hello")),
    make("cut-json", "survives signed JSON that ends too early", signed('{"type":"test.ping"')),
    make("empty", "survives a signed empty body", signed("")),
    make("null", "survives a signed null", signed("null")),
    make("array", "survives a signed array", signed("[]")),
    make("text", "survives a signed text", signed('"test.ping"')),
    make("no-type", "survives an event without a type", signed('{"id":"evt_1"}')),
    make("type-number", "survives a type that is a number", signed('{"type":5}')),
    make("proto", "survives __proto__ as a field", signed('{"type":"test.ping","__proto__":{"admin":true},"constructor":1}')),
    make("inherited-type", "survives a type that every object inherits", signed('{"type":"toString"}')),
    make("deep", "survives a thousand nested lists", signed(`{"type":"test.ping","x":${"[".repeat(1000)}${"]".repeat(1000)}}`)),
    make("not-utf8", "survives bytes that are not UTF-8", signed(Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d))),
    make("bom", "survives a byte order mark", signed(`\ufeff${JSON.stringify(sampleEvent("test.ping"))}`)),
    make("get", "answers a GET without failing", plain("GET")),
    make("put", "answers a PUT without failing", plain("PUT")),
    make("large-unsigned", "answers a large body without a signature", { method: "POST", headers: {}, body: bytes("x".repeat(2_000_000)) }),
    make("still-there", "still accepts a test.ping after all of this", signed(JSON.stringify(sampleEvent("test.ping"))), accepted, {
      mistake: "One of the requests before has ended or blocked the receiver.",
      fix: "Look at its log for the last request it saw.",
    }),
  ];
}

function bytes(text: string): Uint8Array {
  return Buffer.from(text);
}

function sign(text: string | Uint8Array, secret: string, now: number): CaseRequest {
  if (typeof text === "string" && text.startsWith("{")) {
    const parsed = readObject(text);
    const { headers } = signedRequest(parsed, { secret, now });
    const body = bytes(text);
    return { method: "POST", headers: resign(headers, body, secret), body };
  }
  const body = typeof text === "string" ? bytes(text) : text;
  return { method: "POST", headers: resign(signedRequest({}, { secret, now }).headers, body, secret), body };
}

/** Headers with the signatures of exactly these bytes. */
function resign(headers: Readonly<Record<string, string>>, body: Uint8Array, secret: string): Record<string, string> {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const standard = createHmac("sha256", key)
    .update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`)
    .update(body)
    .digest("base64");
  const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  return { ...texts, [SIGNATURE]: createHmac("sha256", secret).update(body).digest("hex"), "webhook-signature": `v1,${standard}` };
}

/** The fields of a JSON object; none when it is damaged on purpose. */
function readObject(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch {
    return {};
  }
}

/** A request whose spec signature is this one, and which has no other. */
function signedAs(request: CaseRequest, signature: string): CaseRequest {
  const bare = without(request, ...STANDARD);
  return { ...bare, headers: { ...bare.headers, [SIGNATURE]: signature } };
}

function without(request: CaseRequest, ...names: readonly string[]): CaseRequest {
  return { ...request, headers: Object.fromEntries(Object.entries(request.headers).filter(([name]) => !names.includes(name))) };
}
