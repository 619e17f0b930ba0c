import { EVENT_TYPES } from "../testing/sample-events.ts";
import type { Advice, AnswerKind, CaseRequest, ConformanceCase } from "./case.ts";
import { bytes, type CheckInput, sign } from "./requests.ts";
import { listSignatureCases } from "./signature-cases.ts";

const OLD: Advice = {
  mistake: "Events are refused by age. The service repeats an event for more than a day while a receiver is down.",
  fix: "Dedupe by id in place of refusing by age; only webhook-timestamp, the time of the attempt, may be checked.",
};
const UNORDERED: Advice = {
  mistake: "The receiver expects events in order.",
  fix: "Compare sequence numbers, ignore what is older than what you know, and answer 2xx.",
};
const STRANGER: Advice = {
  mistake: "An activation that is not stored makes the handler throw, or is refused.",
  fix: "Answer 2xx and ignore it: its first event may have arrived while the receiver was down.",
};

/** The first request: a test.ping that everything is right about. A receiver that does not accept it is not asked more. */
export function controlCase({ secret, now, samples }: CheckInput): ConformanceCase {
  return {
    id: "control",
    group: "control",
    title: "accepts a signed test.ping",
    about: "a signed test.ping",
    expects: "accepted",
    advice: {
      missing: {
        mistake: "There is no receiver at this address: another path or port.",
        fix: "Check the path of the URL, and that POST of it is routed to the receiver.",
      },
    },
    requests: [sign(JSON.stringify(samples.plain()), secret, now)],
  };
}

/** The cases for a receiver that accepts the control request, by their groups. */
export const CASE_LISTS: readonly ((input: CheckInput) => ConformanceCase[])[] = [
  listSignatureCases,
  listEventCases,
  listBodyCases,
  listOrderCases,
  listRobustnessCases,
];

/** The same advice for every way of not accepting a request but those that say something else. */
function forRefusals(advice: Advice): Partial<Record<AnswerKind, Advice>> {
  return { invalid: advice, missing: advice, conflict: advice, failed: advice, unauthorized: advice, forbidden: advice, busy: advice };
}

function listEventCases({ secret, now, samples }: CheckInput): ConformanceCase[] {
  const base = { group: "events" as const, expects: "accepted" as const };
  const typed = samples.events().map((event): ConformanceCase => {
    const { type, reason, decision } = event as { type: string; reason?: string; decision?: string };
    const variant = type === "agent.wakeup" ? undefined : (reason ?? decision);
    const about = `${type}${variant ? ` (${variant})` : ""}`;
    return {
      ...base,
      id: `event-${type}${variant ? `-${variant}` : ""}`,
      title: `accepts ${about}`,
      about,
      requests: [sign(JSON.stringify(event), secret, now)],
    };
  });
  const odd = (id: string, about: string, event: object): ConformanceCase => ({
    ...base,
    id: `event-${id}`,
    title: `accepts ${about}`,
    about,
    requests: [sign(JSON.stringify(event), secret, now)],
  });
  return [
    ...typed,
    odd("unknown-type", "a type it does not know", { ...samples.event("agent.resumed"), type: "agent.renamed" }),
    odd("unknown-field", "a field it does not know", { ...samples.plain(), addedLater: { deep: [1, 2, 3] } }),
    odd("unknown-reason", "a reason it does not know", { ...samples.event("agent.paused"), reason: "added_later" }),
    odd("null-field", "a null in an optional field", { ...samples.event("approval_response"), comment: null }),
    odd("no-run", "an event that belongs to no run", { ...samples.event("message.posted"), runId: null }),
  ];
}

function listBodyCases({ secret, now, samples }: CheckInput): ConformanceCase[] {
  const ping = (): object => samples.plain();
  const make = (id: string, title: string, text: string | Uint8Array, extra: Partial<CaseRequest> = {}): ConformanceCase => {
    const request = sign(text, secret, now);
    return {
      id: `body-${id}`,
      group: "body",
      title,
      about: title.replace(/^(?:verifies|accepts) /, "").replace(/ as (?:it|they) arrived$/, ""),
      expects: "accepted",
      requests: [{ ...request, ...extra, headers: { ...request.headers, ...extra.headers } }],
    };
  };
  const spaced = (): string => JSON.stringify(ping(), null, 2);
  const numbered = (number: string): string => JSON.stringify({ ...ping(), amount: 0 }).replace('"amount":0', `"amount":${number}`);
  return [
    make("pretty", "verifies a body with spaces and newlines as it arrived", spaced()),
    make("trailing-newline", "verifies a signed newline at the end", `${JSON.stringify(ping())}\n`),
    make("crlf", "verifies CRLF line ends", spaced().replaceAll("\n", "\r\n")),
    make("order", "verifies fields in another order", JSON.stringify(Object.fromEntries(Object.entries(ping()).reverse()))),
    make("escapes", "verifies escaped and plain letters as they arrived", JSON.stringify({ ...ping(), note: "é" }).replace("é", "\\u00e9")),
    make("slashes", "verifies escaped slashes", JSON.stringify({ ...ping(), link: "https://example.com" }).replaceAll("/", "\\/")),
    make("unicode", "verifies emoji, combining marks and right-to-left text", JSON.stringify({ ...ping(), note: "é ≠ é 👩‍🚀 שלום" })),
    make("separators", "verifies U+2028 and U+2029", JSON.stringify({ ...ping(), note: "a\u2028b\u2029c" })),
    make("numbers", "verifies numbers that JavaScript would write differently", numbered("1.50e3")),
    make("large-number", "verifies integers beyond 2^53", numbered("9007199254740993")),
    make("duplicate-key", "verifies a repeated field", JSON.stringify(ping()).replace("{", '{"note":1,"note":2,')),
    make("200kb", "accepts a body of 200 KB", JSON.stringify({ ...ping(), note: "x".repeat(200_000) })),
    make("1mb", "accepts a body of 1 MB", JSON.stringify({ ...ping(), note: "x".repeat(1_000_000) })),
    make("chunked", "accepts a body sent in chunks", JSON.stringify(ping()), { chunked: true }),
    make("charset", "accepts a content type with a charset", JSON.stringify(ping()), {
      headers: { "content-type": "application/json; charset=utf-8" },
    }),
  ];
}

/** Twenty events at once, all different or all the same. */
const CROWD = 20;

function listOrderCases({ secret, now, samples }: CheckInput): ConformanceCase[] {
  const request = (event: object): CaseRequest => sign(JSON.stringify(event), secret, now);
  const twice = (event: object): CaseRequest[] => [request(event), request(event)];
  const base = { group: "order" as const, expects: "accepted" as const };
  const DAY_MS = 86_400_000;
  const copies = (event: object): CaseRequest[] => {
    const copy = { ...request(event), repeat: true };
    return Array.from({ length: CROWD }, () => copy);
  };
  return [
    {
      ...base,
      id: "order-repeat",
      title: "accepts the same event twice",
      about: "a repeated event",
      requests: twice(samples.event("approval_response")),
    },
    {
      ...base,
      id: "order-parallel",
      title: "accepts twenty copies at the same time",
      about: "copies of an event at the same time",
      requests: [copies(samples.event("message.posted"))],
    },
    {
      ...base,
      id: "order-activated-twice",
      title: "accepts a repeated agent.activated",
      about: "a repeated agent.activated",
      requests: twice(samples.event("agent.activated")),
    },
    {
      ...base,
      id: "order-failed-run-twice",
      title: "accepts run_force_failed for a run it has forgotten",
      about: "a repeated run_force_failed",
      requests: twice(samples.event("run_force_failed")),
    },
    {
      ...base,
      id: "order-replay",
      title: "accepts an event that was delayed by a day",
      about: "an event that is a day old",
      advice: forRefusals(OLD),
      requests: [request({ ...samples.event("agent.paused"), timestamp: new Date(now - DAY_MS).toISOString() })],
    },
    {
      ...base,
      id: "order-reversed",
      title: "accepts agent.resumed before agent.paused",
      about: "events in another order than they happened",
      advice: forRefusals(UNORDERED),
      requests: [
        request({ ...samples.event("agent.resumed"), sequence: 1_000_009 }),
        request({ ...samples.event("agent.paused"), sequence: 1_000_008 }),
      ],
    },
    {
      ...base,
      id: "order-unknown-activation",
      title: "accepts events of an activation it has never seen",
      about: "an event of an activation it has never seen",
      advice: forRefusals(STRANGER),
      requests: EVENT_TYPES.filter((type) => type !== "agent.activated").map((type) => {
        const event = samples.event(type);
        return request({ ...event, activationId: `act_unknown_${event.id}` });
      }),
    },
    {
      ...base,
      id: "order-burst",
      title: "answers twenty events at the same time",
      about: "twenty events at the same time",
      advice: {
        slow: {
          mistake: "Events are handled one after the other, and the last ones run into the time limit.",
          fix: "Store the event, answer 2xx, and work afterwards.",
        },
      },
      requests: [Array.from({ length: CROWD }, () => request(samples.plain()))],
    },
  ];
}

// Parsers have limits: Python's of about a thousand levels, PHP's of 512.
const DEPTH = 100;

function listRobustnessCases({ secret, now, samples }: CheckInput): ConformanceCase[] {
  const make = (id: string, about: string, request: CaseRequest): ConformanceCase => ({
    id: `robust-${id}`,
    group: "robustness",
    title: `survives ${about}`,
    about,
    expects: "survived",
    advice: {
      failed: {
        mistake: "An exception while the request is read is not caught.",
        fix: "Catch it and answer 400; a 5xx makes the service try again.",
      },
    },
    requests: [request],
  });
  const signed = (text: string | Uint8Array): CaseRequest => sign(text, secret, now);
  const odd = (fields: object): CaseRequest => signed(JSON.stringify({ ...samples.plain(), ...fields }));
  const plain = (method: CaseRequest["method"]): CaseRequest => ({ method, headers: {}, body: method === "GET" ? null : bytes("") });
  const large: CaseRequest = { method: "POST", headers: {}, body: bytes("x".repeat(2_000_000)) };
  return [
    make("no-json", "a signed body that is no JSON", signed("hello")),
    make("cut-json", "signed JSON that ends too early", signed('{"type":"test.ping"')),
    make("empty", "a signed empty body", signed("")),
    make("null", "a signed null", signed("null")),
    make("array", "a signed array", signed("[]")),
    make("text", "a signed text", signed('"test.ping"')),
    make("no-type", "an event without a type", odd({ type: undefined })),
    make("type-number", "a type that is a number", odd({ type: 5 })),
    make(
      "proto",
      "__proto__ as a field",
      signed(JSON.stringify(samples.plain()).replace("{", '{"__proto__":{"admin":true},"constructor":1,')),
    ),
    make("inherited-type", "a type that every object inherits", odd({ type: "toString" })),
    make(
      "deep",
      "a hundred nested lists",
      signed(JSON.stringify(samples.plain()).replace("{", `{"x":${"[".repeat(DEPTH)}${"]".repeat(DEPTH)},`)),
    ),
    make("not-utf8", "bytes that are not UTF-8", signed(Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d))),
    make("bom", "a byte order mark", signed(`\ufeff${JSON.stringify(samples.plain())}`)),
    make("get", "a GET", plain("GET")),
    make("put", "a PUT", plain("PUT")),
    // The receiver may cut it off: a sender with the secret never sends it.
    { ...make("large-unsigned", "a large body without a signature", large), mayClose: true },
    {
      ...make("still-there", "all of this", signed(JSON.stringify(samples.plain()))),
      title: "still accepts a test.ping after all of this",
      expects: "accepted",
      advice: forRefusals({
        mistake: "One of the requests before has ended or blocked the receiver.",
        fix: "Look at its log for the last request it saw.",
      }),
    },
  ];
}
