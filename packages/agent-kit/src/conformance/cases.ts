import { createHmac } from "node:crypto";
import { EVENT_TYPES, sampleEvent, sampleEvents } from "../testing/sample-events.ts";
import { accepted, type CaseRequest, type ConformanceCase, noFailure } from "./case.ts";
import { bytes, SIGNATURE, sign } from "./requests.ts";
import { listSignatureCases, RAW_BODY } from "./signature-cases.ts";

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
      requests: [Array.from({ length: 20 }, () => ({ ...request(parallel), repeat: true }))],
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
