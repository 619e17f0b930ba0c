import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { EVENT_TYPES } from "../src/testing/sample-events.ts";

export const SECRET = `whsec_${Buffer.from("conformance-secret-of-32-bytes!!").toString("base64")}`;

/** A request as a receiver sees it. */
interface Received {
  readonly raw: Buffer;
  readonly request: IncomingMessage;
  /** X-Service-Signature; empty when it is missing. */
  readonly given: string;
}

/** Returns the status, with the text of the answer if it has one; what it throws is answered with 500, a number with that status. */
export type Handle = (received: Received) => Promise<number | [status: number, text: string]>;

type Verify = (received: Received) => boolean;

const hmac = (body: Buffer | string, key: string | Buffer = SECRET, algorithm = "sha256"): string =>
  createHmac(algorithm, key).update(body).digest("hex");
const isRight: Verify = ({ raw, given }) => given === hmac(raw);
const read = (raw: Buffer): Record<string, unknown> => JSON.parse(raw.toString()) as Record<string, unknown>;
const readOrNull = (raw: Buffer): Record<string, unknown> | null => {
  try {
    const event: unknown = JSON.parse(raw.toString());
    return typeof event === "object" && event !== null && !Array.isArray(event) ? (event as Record<string, unknown>) : null;
  } catch {
    return null;
  }
};

/** A receiver that is right but for how it verifies. */
const verifying =
  (verify: Verify, refusal = 401): Handle =>
  async (received) => {
    if (received.request.method !== "POST") return 405;
    if (!verify(received)) return refusal;
    return readOrNull(received.raw) === null ? 400 : 200;
  };

/** A receiver that verifies rightly, and does this with its events. */
const handling =
  (handle: (event: Record<string, unknown>, received: Received) => Promise<number> | number): Handle =>
  async (received) => {
    if (received.request.method !== "POST") return 405;
    if (!isRight(received)) return 401;
    const event = readOrNull(received.raw);
    return event === null ? 400 : handle(event, received);
  };

const header = ({ request }: Received, name: string): string => String(request.headers[name] ?? "");
const toPython = (event: object): string => JSON.stringify(event).replaceAll(',"', ', "').replaceAll('":', '": ');

/** Right in every way but for what is not forbidden. */
export const RIGHT: Readonly<Record<string, () => Handle>> = {
  "compares hex texts, small letters only": () => verifying(isRight),
  "verifies webhook-signature": () =>
    verifying((received) => {
      const [id, at] = ["webhook-id", "webhook-timestamp"].map((name) => header(received, name));
      if (Math.abs(Date.now() / 1000 - Number(at)) > 300) return false;
      const key = Buffer.from(SECRET.slice(6), "base64");
      const digest = createHmac("sha256", key).update(`${id}.${at}.`).update(received.raw).digest("base64");
      return header(received, "webhook-signature").split(" ").includes(`v1,${digest}`);
    }),
  "answers 204 and remembers ids": () => {
    const seen = new Set<unknown>();
    return handling(({ id }) => {
      if (seen.has(id)) return 200;
      seen.add(id);
      return 204;
    });
  },
  "closes the connection at a large body": () => async (received) => {
    if (received.raw.length > 1_500_000) received.request.destroy();
    return verifying(isRight)(received);
  },
};

/** Wrong receivers: what they do, and the mistake that must be named first. */
export const WRONG: Readonly<Record<string, readonly [handle: () => Handle, mistake: RegExp]>> = {
  "checks nothing": [() => verifying(() => true), /not checked/],
  "only logs a failed check": [() => loggingOnly(), /not checked/],
  "skips the check without a header": [() => verifying((r) => r.given === "" || isRight(r)), /missing header skips/],
  "accepts any text in the header": [() => verifying((r) => r.given !== ""), /looked at but not compared/],
  "compares as much as was given": [() => verifying((r) => hmac(r.raw).startsWith(r.given)), /only as many digits are compared/],
  "compares the first eight digits": [() => verifying((r) => r.given.slice(0, 8) === hmac(r.raw).slice(0, 8)), /compared loosely/],
  "trims sha256= away": [() => verifying((r) => r.given.replace(/^sha256=/, "") === hmac(r.raw)), /compared loosely/],
  "drops what is no hex": [() => verifying((r) => r.given.replace(/[^0-9a-f]/g, "") === hmac(r.raw)), /no hex digits are dropped/],
  "signs the parsed body again": [() => verifying((r) => r.given === hmac(JSON.stringify(readOrNull(r.raw)))), /parsed and written again/],
  "signs the parsed body again, with spaces": [
    () => verifying((r) => r.given === hmac(toPython(readOrNull(r.raw) ?? {}))),
    /parsed and written again.*json\.dumps/,
  ],
  "decodes the body with replacement characters": [() => verifying((r) => r.given === hmac(r.raw.toString())), /replaced or dropped/],
  "decodes the body as Latin-1": [
    () => verifying((r) => r.given === createHmac("sha256", SECRET).update(r.raw.toString("latin1"), "utf8").digest("hex")),
    /another charset/,
  ],
  "trims the body": [() => verifying((r) => r.given === hmac(r.raw.toString("latin1").trim() === "" ? "" : trim(r.raw))), /trimmed/],
  "changes CRLF": [
    () => verifying((r) => r.given === hmac(Buffer.from(r.raw.toString("latin1").replaceAll("\r\n", "\n"), "latin1"))),
    /CRLF becomes LF/,
  ],
  "uses the secret without its prefix": [() => verifying((r) => r.given === hmac(r.raw, SECRET.slice(6))), /without its prefix/],
  "uses the decoded secret": [() => verifying((r) => r.given === hmac(r.raw, Buffer.from(SECRET.slice(6), "base64"))), /decoded/],
  "has no secret": [() => verifying((r) => r.given === hmac(r.raw, "")), /without its secret/],
  "has the secret undefined": [() => verifying((r) => r.given === hmac(r.raw, "undefined")), /text undefined/],
  "has another secret": [() => verifying((r) => r.given === hmac(r.raw, "whsec_other")), /secret is another one/],
  "computes SHA-1": [() => verifying((r) => r.given === hmac(r.raw, SECRET, "sha1")), /sha1/],
  "computes a plain hash": [
    () => verifying((r) => r.given === createHash("sha256").update(SECRET).update(r.raw).digest("hex")),
    /plain hash/,
  ],
  "expects base64": [() => verifying((r) => r.given === createHmac("sha256", SECRET).update(r.raw).digest("base64")), /base64/],
  "expects capitals": [() => verifying((r) => r.given === hmac(r.raw).toUpperCase()), /capitals/],
  "signs the timestamp too": [
    () => verifying((r) => r.given === hmac(`${header(r, "webhook-timestamp")}.${r.raw}`)),
    /webhook-timestamp is signed together/,
  ],
  "reads another header": [
    () => verifying((r) => header(r, "x-hub-signature-256") === `sha256=${hmac(r.raw)}`),
    /another header: x-hub-signature-256/,
  ],
  "answers 403 to a wrong signature": [() => verifying(isRight, 403), /with 403 in place of 401/],
  "answers 400 to a wrong signature": [() => verifying(isRight, 400), /with 400 in place of 401/],
  "throws at every wrong signature": [() => verifying(isRight, 500), /ends in an exception/],
  "throws at a signature of another length": [
    () => verifying((r) => timingSafeEqual(Buffer.from(r.given), Buffer.from(hmac(r.raw)))),
    /another length makes the comparison throw/,
  ],
  "throws without a header": [
    () => async (received) => {
      if (received.request.method === "POST" && received.request.headers["x-service-signature"] === undefined)
        throw new TypeError("undefined");
      return verifying(isRight)(received);
    },
    /missing signature header makes the receiver throw/,
  ],
  "tells the right signature": [
    () => async (received) =>
      isRight(received)
        ? readOrNull(received.raw)
          ? 200
          : 400
        : received.request.method === "POST"
          ? [401, `expected ${hmac(received.raw)}`]
          : 405,
    /says which one was expected/,
  ],
  "answers 409 to repeats": [() => remembering(409), /repeated event is treated as an error/],
  "answers 500 to repeats": [() => remembering(500), /repeated event is treated as an error/],
  "refuses types it does not know": [
    () => handling(({ type }) => (["agent.renamed", "toString", 5, undefined].includes(type as string) ? 422 : 200)),
    /a type it does not know/,
  ],
  "throws at types it does not know": [
    () =>
      handling(({ type }) => {
        if (type === "agent.renamed") throw new Error("no such type");
        return 200;
      }),
    /handles a type it does not know/,
  ],
  "does not know agent.wakeup": [() => handling(({ type }) => (type === "agent.wakeup" ? 404 : 200)), /refuses agent\.wakeup/],
  "does not know test.ping": [() => handling(({ type }) => (type === "test.ping" ? 400 : 200)), /test\.ping/],
  "refuses fields it does not know": [() => handling(({ addedLater }) => (addedLater ? 400 : 200)), /a field it does not know/],
  "reads only fields it knows, else throws": [
    () =>
      handling((event) => {
        const known = ["id", "type", "activationId", "runId", "sequence", "timestamp", "test", "reason", "text", "format", "messageId"];
        if (event["type"] === "test.ping" && Object.keys(event).some((name) => !known.includes(name))) throw new Error("unknown field");
        return 200;
      }),
    /Fields that the receiver does not know make it throw/,
  ],
  "takes only the fields of test.ping": [
    () =>
      handling((event) => {
        const known = ["id", "type", "activationId", "runId", "sequence", "timestamp", "test"];
        return event["type"] === "test.ping" && Object.keys(event).some((name) => !known.includes(name)) ? 400 : 200;
      }),
    /Fields that the receiver does not know make it refuse/,
  ],
  "refuses every event with a field that it does not know": [
    () =>
      handling((event) => {
        const known = [
          "id",
          "type",
          "activationId",
          "runId",
          "sequence",
          "timestamp",
          "test",
          "reason",
          "apiKey",
          "organizationName",
          "scopes",
        ];
        return Object.keys(event).some((name) => !known.includes(name)) ? 400 : 200;
      }),
    /Fields that the receiver does not know make it refuse/,
  ],
  "parses before it verifies": [
    () => async (received) => {
      if (received.request.method !== "POST") return 405;
      const { type } = read(received.raw);
      if (!isRight(received)) return 401;
      return typeof type === "string" ? 200 : 400;
    },
    /parsed before its signature is verified/,
  ],
  "answers 400 to what is no JSON before it verifies": [
    () => async (received) => {
      if (received.request.method !== "POST") return 405;
      if (readOrNull(received.raw) === null) return 400;
      return isRight(received) ? 200 : 401;
    },
    /parsed before its signature is verified/,
  ],
  "looks handlers up by type, and throws without one": [
    () =>
      handling(({ type }) => {
        if (!EVENT_TYPES.includes(type as (typeof EVENT_TYPES)[number])) throw new TypeError("handlers[type] is not a function");
        return 200;
      }),
    /handles a type it does not know/,
  ],
  "refuses old events": [
    () => handling(({ timestamp }) => (Date.now() - Date.parse(String(timestamp)) > 300_000 ? 400 : 200)),
    /refused by age/,
  ],
  "insists on the order": [
    () => {
      let last = 0;
      return handling(({ sequence }) => {
        const isOlder = Number(sequence) === last - 1;
        if (!isOlder) last = Number(sequence);
        return isOlder ? 409 : 200;
      });
    },
    /in order/,
  ],
  "refuses activations it does not know": [
    () => handling(({ activationId }) => (String(activationId).startsWith("act_unknown") ? 404 : 200)),
    /activation that is not stored/,
  ],
  "takes 100 kB": [
    () => async (received) => (received.raw.length > 100_000 ? 413 : verifying(isRight)(received)),
    /limit for request bodies/,
  ],
  "reads one content type": [
    () => async (received) =>
      received.request.method === "POST" && header(received, "content-type") === "application/json; charset=utf-8"
        ? 415
        : verifying(isRight)(received),
    /one exact content type/,
  ],
  "needs a length": [
    () => async (received) =>
      verifying(isRight)(received.request.headers["content-length"] === undefined ? { ...received, raw: Buffer.alloc(0) } : received),
    /sent in chunks is not read/,
  ],
  "throws at what is no JSON": [
    () => async (received) => {
      if (received.request.method !== "POST") return 405;
      if (!isRight(received)) return 401;
      const { type } = read(received.raw);
      return typeof type === "string" ? 200 : 400;
    },
    /while the request is read is not caught/,
  ],
  "reads the first 64 kB": [
    () => async (received) => verifying(isRight)({ ...received, raw: received.raw.subarray(0, 65_536) }),
    /Only the beginning of a large body/,
  ],
  "throws at every null": [
    () =>
      handling(({ runId: _, ...fields }) => {
        if (Object.values(fields).includes(null)) throw new TypeError("null");
        return 200;
      }),
    /throws at events that the service sends: .*message\.posted/,
  ],
  "refuses what follows a pause": [
    () => {
      const paused = new Set<unknown>();
      return handling(({ type, activationId }) => {
        if (type === "agent.paused") paused.add(activationId);
        return type !== "agent.paused" && paused.has(activationId) ? 409 : 200;
      });
    },
    /refuses events that the service sends: agent\.resumed/,
  ],
  "handles one event after the other": [
    () => {
      let last: Promise<unknown> = Promise.resolve();
      return handling(async () => {
        last = last.then(() => sleep(450));
        await last;
        return 200;
      });
    },
    /one after the other/,
  ],
  "takes old signatures of Standard Webhooks": [
    () =>
      verifying((received) => {
        const signed = `${header(received, "webhook-id")}.${header(received, "webhook-timestamp")}.`;
        const key = Buffer.from(SECRET.slice(6), "base64");
        const digest = createHmac("sha256", key).update(signed).update(received.raw).digest("base64");
        return header(received, "webhook-signature") === `v1,${digest}`;
      }),
    /can send it again for ever/,
  ],
  redirects: [() => async () => 308, /redirects/],
  "is somewhere else": [() => async () => 404, /no receiver at this address/],
  "limits the rate": [
    () => {
      let open = 0;
      return handling(async () => {
        open += 1;
        await sleep(50);
        return open-- > 5 ? 429 : 200;
      });
    },
    /rate limit/,
  ],
};

function remembering(status: number): Handle {
  const seen = new Set<unknown>();
  return handling(({ id }) => {
    if (seen.has(id)) return status;
    seen.add(id);
    return 200;
  });
}

/** It computes the signature, and goes on whatever comes out. */
function loggingOnly(): Handle {
  const log: string[] = [];
  return async (received) => {
    if (!isRight(received)) log.push("wrong signature");
    return 200;
  };
}

function trim(raw: Buffer): Buffer {
  return Buffer.from(raw.toString("latin1").trim(), "latin1");
}
