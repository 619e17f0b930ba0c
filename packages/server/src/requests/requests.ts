import type { EventDeps } from "../events/deps.ts";
import type { HeaderReader } from "../http/headers.ts";
import { previewKey } from "../keys/keys.ts";
import type { Clock } from "../lib/clock.ts";
import { type AnsweredRequest, RequestLog } from "./request-log.ts";
import { RequestStore } from "./request-store.ts";

export { RequestLog, RequestStore };

/** Keeps answered requests: in memory, or in the database. */
export interface RequestSink {
  note(request: AnsweredRequest): void;
}

interface Observed extends Omit<AnsweredRequest, "keyPreview"> {
  readonly headers: HeaderReader;
  /** True for a call of dev mode. */
  readonly dev: boolean;
}

/** Header of reads by which a program only looks at the server, such as the screen of `mailsvc dev`. */
const LOOK_HEADER = "x-mailsvc-look";
/** Where the log itself is read. */
const RECORDS = ["/api/v1/requests", "/resend/logs"];
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);

/** Keeps a request, unless it only looks at the server. */
export function noteRequest(log: RequestSink, { headers, dev, ...request }: Observed): void {
  const authorization = headers.get("authorization");
  if (request.method === "GET" && isLook({ headers, dev, ...request }, authorization)) return;
  // A key that works is known by its id.
  const given = request.keyId === null ? /^Bearer +(ms_[a-z]+_[0-9A-Za-z]{20,100})$/i.exec(authorization ?? "")?.[1] : undefined;
  log.note({ ...request, keyPreview: given === undefined ? null : previewKey(given) });
}

function isLook({ headers, dev, pathname, route, keyId }: Observed, authorization: string | null): boolean {
  const byBrowser = keyId !== null && authorization === null;
  const isRecord = RECORDS.some((record) => route?.startsWith(record));
  return dev || byBrowser || isRecord || PROBES.has(pathname) || headers.get(LOOK_HEADER) !== null;
}

export interface RequestDeps extends EventDeps {
  readonly clock: Clock;
  /** The latest requests, in dev mode; null outside it. */
  readonly requestLog: RequestLog | null;
  /** The requests that a server keeps; null where nobody asked for it, and in dev mode. */
  readonly requestStore: RequestStore | null;
}
