import { Buffer } from "node:buffer";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { currentTime, sleep } from "../runtime.ts";
import { type Answer, type CaseRequest, type ConformanceCase, DEADLINE_MS, type Group } from "./case.ts";
import { listCases } from "./cases.ts";

/** What `checkReceiver` takes. */
export interface CheckOptions {
  /** Where the receiver listens, for example `http://localhost:3000/webhook`. */
  url: string;
  /** The secret the receiver verifies with. */
  secret: string;
  /** Only cases whose id contains this. */
  only?: string | undefined;
  /**
   * How long to wait for an answer, ms. Default: 12 000, which is longer than the service waits, so that a slow answer can be told from
   * none.
   */
  timeoutMs?: number | undefined;
  /** Cancels the check between two requests; it then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called after each case. */
  onResult?: ((result: CaseResult) => void) | undefined;
}

/** The grade of one case. */
export interface CaseResult {
  readonly id: string;
  readonly group: Group;
  readonly title: string;
  readonly passed: boolean;
  /** How long it took, ms. */
  readonly ms: number;
  /** What is wrong, the likely mistake, how to mend it, and the request as a curl command; null when it passed. */
  readonly failure: { readonly problem: string; readonly mistake: string; readonly fix: string; readonly curl: string } | null;
  /** Why it was not graded; null when it was. */
  readonly skipped: string | null;
}

/** The grades of all cases, and how many there are of each. */
export interface CheckReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly results: readonly CaseResult[];
}

const TIMEOUT_MS = DEADLINE_MS + 4000;
// After this many cases without an answer the receiver is taken to be gone.
const MAX_SILENT = 3;
// Of an answer so much is kept; a receiver may send without end.
const MAX_ANSWER = 65_536;
// The waits of the service between its direct attempts.
const REPEAT_MS = [1000, 2000, 4000];
// Bodies beyond this are left out of the curl command.
const MAX_CURL_BODY = 4000;

/**
 * Sends a receiver, in any language, everything the service and an attacker may send, and grades its answers. The receiver needs
 * no activation: events name `act_sample`. Throws TypeError for an address that is none.
 */
export async function checkReceiver({ url, secret, only, timeoutMs = TIMEOUT_MS, signal, onResult }: CheckOptions): Promise<CheckReport> {
  const target = parseAddress(url);
  const results: CaseResult[] = [];
  let silent = 0;
  for (const one of listCases(secret, currentTime())) {
    if (only !== undefined && !one.id.includes(only)) continue;
    signal?.throwIfAborted();
    const { result, answered } = silent < MAX_SILENT ? await grade(one, target, timeoutMs) : { result: skip(one), answered: false };
    silent = answered ? 0 : silent + 1;
    results.push(result);
    onResult?.(result);
  }
  return toReport(results);
}

/** @internal */
export function toReport(results: readonly CaseResult[]): CheckReport {
  const passed = results.filter((result) => result.passed).length;
  const skipped = results.filter((result) => result.skipped !== null).length;
  return { passed, failed: results.length - passed - skipped, skipped, results };
}

/** @internal Throws TypeError for an address that is none. */
export function parseAddress(url: string): URL {
  const target = new URL(url);
  if (!/^https?:$/.test(target.protocol)) throw new TypeError("The address of the receiver must begin with http:// or https://.");
  return target;
}

function skip({ id, group, title }: ConformanceCase): CaseResult {
  const skipped = `The receiver answered nothing in ${MAX_SILENT} cases before this one.`;
  return { id, group, title, passed: false, ms: 0, failure: null, skipped };
}

async function grade(one: ConformanceCase, target: URL, timeoutMs: number): Promise<{ result: CaseResult; answered: boolean }> {
  const from = currentTime();
  const answers: Answer[] = [];
  for (const step of one.requests) {
    const together: readonly CaseRequest[] = Array.isArray(step) ? step : [step as CaseRequest];
    answers.push(...(await Promise.all(together.map((request) => deliver(request, target, timeoutMs)))));
  }
  const problem = one.judge(answers);
  const { id, group, title, mistake, fix } = one;
  const [first] = one.requests.flat();
  const failure = problem === null || !first ? null : { problem, mistake, fix, curl: formatCurl(first, target) };
  const result = { id, group, title, passed: failure === null, ms: Math.round(currentTime() - from), failure, skipped: null };
  return { result, answered: answers.some(({ status }) => status !== null) };
}

/** Sends a request, and again as the service does while a receiver is busy with another copy of it. */
async function deliver(request: CaseRequest, target: URL, timeoutMs: number): Promise<Answer> {
  let answer = await send(request, target, timeoutMs);
  for (const ms of request.repeat ? REPEAT_MS : []) {
    if (answer.status !== 503) break;
    await sleep(ms);
    answer = await send(request, target, timeoutMs);
  }
  return answer;
}

/** Sends one request on its own connection and waits for the whole answer. Never throws. */
function send({ method, headers, body, chunked }: CaseRequest, target: URL, timeoutMs: number): Promise<Answer> {
  const from = currentTime();
  const since = (): number => currentTime() - from;
  return new Promise((done) => {
    const fail = ({ code, message }: NodeJS.ErrnoException): void =>
      done({
        status: null,
        body: "",
        ms: since(),
        error: code === "ABORT_ERR" ? `no whole answer came within ${timeoutMs / 1000} s` : (code ?? message),
      });
    const open = target.protocol === "https:" ? httpsRequest : httpRequest;
    const length = body === null || chunked ? {} : { "content-length": String(body.length) };
    const options = { method, headers: { ...headers, ...length }, agent: false as const, signal: AbortSignal.timeout(timeoutMs) };
    const request = open(target, options, (response) => {
      const parts: Buffer[] = [];
      let length = 0;
      response.on("data", (part: Buffer) => {
        length += part.length;
        if (length <= MAX_ANSWER) parts.push(part);
      });
      response.on("end", () =>
        done({ status: response.statusCode ?? null, body: Buffer.concat(parts).toString(), ms: since(), error: null }),
      );
      response.on("error", fail);
    });
    request.on("error", fail);
    if (chunked && body !== null) for (let at = 0; at < body.length; at += 100) request.write(body.subarray(at, at + 100));
    request.end(chunked ? undefined : body);
  });
}

/** @internal The request as a command for a POSIX shell. */
export function formatCurl({ method, headers, body }: CaseRequest, target: URL): string {
  const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const text = Buffer.from(body ?? []).toString();
  const isText = Buffer.from(text).equals(Buffer.from(body ?? []));
  const data = body === null ? [] : isText && text.length <= MAX_CURL_BODY ? ["--data-binary", quote(text)] : ["--data-binary", "@body"];
  const flags = Object.entries(headers).flatMap(([name, value]) => ["-H", quote(`${name}: ${value}`)]);
  return ["curl", "-i", "-X", method, quote(target.href), ...flags, ...data].join(" ");
}
