import { Buffer } from "node:buffer";
import { currentTime, randomToken } from "../runtime.ts";
import { adviseByAnswer } from "./advice.ts";
import {
  type Advice,
  type Answer,
  type CaseRequest,
  type ConformanceCase,
  DEADLINE_MS,
  type Fault,
  findFault,
  type Group,
  kindOf,
} from "./case.ts";
import { CASE_LISTS, controlCase } from "./cases.ts";
import { explain } from "./patterns.ts";
import { listProbes, REFUSES_ALL } from "./probes.ts";
import { Samples } from "./samples.ts";
import { deliver } from "./send.ts";
import { TimeLimit } from "./time-limit.ts";

/** Options of `checkReceiver`. */
export interface CheckOptions {
  /** URL of the receiver, for example `http://localhost:3000/webhook`. */
  url: string;
  /** The secret the receiver verifies with. */
  secret: string;
  /** Only cases whose id contains this. */
  only?: string | undefined;
  /** Time limit for an answer, ms. Default: 12 000, longer than the service waits, so that a slow answer differs from none. */
  timeoutMs?: number | undefined;
  /**
   * Time limit for the whole check, ms. Default: ten minutes. Cases that remain after it are not graded, and the case `time-limit` fails.
   */
  limitMs?: number | undefined;
  /** Cancels the check between two requests; it then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called after each case. The report may name the mistake more exactly. */
  onResult?: ((result: CaseResult) => void) | undefined;
}

/** The grade of one case. */
export interface CaseResult {
  readonly id: string;
  readonly group: Group;
  readonly title: string;
  readonly passed: boolean;
  /** Duration, ms. */
  readonly ms: number;
  /** Fault, the likely mistake, its fix, and the request as a curl command; null when it passed. */
  readonly failure: { readonly problem: string; readonly mistake: string; readonly fix: string; readonly curl: string } | null;
  /** Reason it was not graded; null when it was. */
  readonly skipped: string | null;
}

/** A mistake that the failures point to, with the ids of the cases it explains. */
interface Cause extends Advice {
  readonly cases: readonly string[];
}

/** The grades of all cases, how many there are of each, and what they point to. */
export interface CheckReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly results: readonly CaseResult[];
  /** The probable mistakes, the one that explains most first. */
  readonly causes: readonly Cause[];
}

const TIMEOUT_MS = DEADLINE_MS + 4000;
// After this many cases in a row without an answer in time the receiver is taken to be gone, or too slow to be graded.
const MAX_SILENT = 3;
// A connection may break once.
const CONTROL_ATTEMPTS = 3;
// Bodies beyond this are left out of the curl command.
const MAX_CURL_BODY = 4000;
const SILENT = new Set(["slow", "gone", "closed"]);

/**
 * Sends a receiver, in any language, everything the service and an attacker may send, and grades its answers. The receiver needs
 * no activation: events name one that begins with `act_sample`. A receiver that does not accept a signed test.ping is not asked more than what
 * tells why. Throws TypeError for an address that is none.
 */
export async function checkReceiver(options: CheckOptions): Promise<CheckReport> {
  return toReport(await gradeReceiver(options, new TimeLimit(options.limitMs)));
}

/** @internal */
export function gradeReceiver(options: CheckOptions, limit: TimeLimit): Promise<CaseResult[]> {
  return new ReceiverCheck(options, limit).perform();
}

/** A case with what came back. */
interface Graded {
  readonly one: ConformanceCase;
  readonly fault: Fault | null;
  readonly ms: number;
  readonly skipped: string | null;
}

class ReceiverCheck {
  readonly #options: CheckOptions;
  readonly #target: URL;
  readonly #samples = new Samples(randomToken().slice(0, 12), currentTime());
  readonly #graded: Graded[] = [];
  readonly #limit: TimeLimit;
  #answers = 0;

  constructor(options: CheckOptions, limit: TimeLimit) {
    this.#options = options;
    this.#limit = limit;
    this.#target = parseAddress(options.url);
  }

  async perform(): Promise<CaseResult[]> {
    const { only } = this.#options;
    const isWanted = ({ id }: ConformanceCase): boolean => only === undefined || id.includes(only);
    const control = controlCase(this.#input());
    if (![control, ...CASE_LISTS.flatMap((list) => list(this.#input()))].some(isWanted)) return [];
    const [refusal, advice] = await this.#control(control, isWanted(control));
    let silent = 0;
    // Each list is made when it is sent, so that no time is old.
    for (const list of CASE_LISTS)
      for (const one of list(this.#input()).filter(isWanted)) {
        const reason =
          refusal ?? (silent < MAX_SILENT ? null : `The receiver answered nothing in time in ${MAX_SILENT} cases before this one.`);
        const graded = reason === null ? await this.#grade(one) : skip(one, reason);
        silent = graded.fault && SILENT.has(graded.fault.kind) ? silent + 1 : reason === null ? 0 : silent;
        this.#add(graded);
      }
    if (this.#graded.some(({ skipped }) => skipped === this.#limit.reason)) this.#addLimit();
    return this.#results(advice);
  }

  #input() {
    return { secret: this.#options.secret, now: currentTime(), samples: this.#samples };
  }

  /** Grades the control request. Returns why nothing else can be graded, or null, and what explains its fault. */
  async #control(one: ConformanceCase, isWanted: boolean): Promise<[refusal: string | null, advice: Advice | null]> {
    let graded = await this.#grade(one);
    for (let attempt = 1; graded.fault?.kind === "closed" && attempt < CONTROL_ATTEMPTS; attempt += 1) graded = await this.#grade(one);
    const { fault } = graded;
    if (isWanted || fault) this.#add(graded);
    if (fault === null) return [null, null];
    if (["invalid", "failed", "busy", "conflict", "missing"].includes(fault.kind)) {
      // It may be only the type that the receiver does not know.
      this.#samples.plainType = "message.posted";
      if ((await this.#grade(controlCase(this.#input()))).fault === null) return [null, null];
      this.#samples.plainType = "test.ping";
    }
    const refusal = "The receiver does not accept a signed test.ping, so nothing else says anything about it.";
    return [refusal, SILENT.has(fault.kind) || fault.kind === "redirected" ? null : await this.#probe(fault)];
  }

  /** Finds out what a receiver verifies when it refuses correctly signed requests. */
  async #probe({ kind }: Fault): Promise<Advice | null> {
    for (const { request, advice } of listProbes(this.#input()))
      if (this.#limit.left > 0 && kindOf(await deliver(request, this.#target, this.#timeoutMs)) === "accepted") return advice;
    return kind === "unauthorized" || kind === "forbidden" ? REFUSES_ALL : null;
  }

  async #grade(one: ConformanceCase): Promise<Graded> {
    this.#options.signal?.throwIfAborted();
    const from = currentTime();
    const answers: Answer[] = [];
    for (const step of one.requests) {
      if (this.#limit.left === 0) return skip(one, this.#limit.reason);
      const together: readonly CaseRequest[] = Array.isArray(step) ? step : [step as CaseRequest];
      answers.push(...(await Promise.all(together.map((request) => deliver(request, this.#target, this.#timeoutMs)))));
      this.#answers += together.length;
      // After a request that was not answered in time, the rest of the case is left out.
      if (answers.some((answer) => SILENT.has(kindOf(answer)))) break;
    }
    return { one, fault: findFault(one, answers), ms: Math.round(currentTime() - from), skipped: null };
  }

  get #timeoutMs(): number {
    return this.#options.timeoutMs ?? TIMEOUT_MS;
  }

  /** Adds the failed case `time-limit`. */
  #addLimit(): void {
    const left = this.#graded.filter(({ skipped }) => skipped !== null).length;
    const problem = `${this.#limit.reason} ${this.#answers} requests were answered, and ${left} cases are not graded`;
    this.#add({ one: this.#limit.toCase(this.#input()), fault: { kind: "slow", problem }, ms: 0, skipped: null });
  }

  #add(graded: Graded): void {
    this.#graded.push(graded);
    this.#options.onResult?.(toResult(graded, null, this.#target));
  }

  #results(control: Advice | null): CaseResult[] {
    const faults = new Map(this.#graded.flatMap(({ one, fault, skipped }) => (skipped === null ? [[one.id, fault] as const] : [])));
    const explained = explain(faults);
    return this.#graded.map((graded) => {
      const { id } = graded.one;
      return toResult(graded, (id === "control" ? control : null) ?? explained.get(id) ?? null, this.#target);
    });
  }
}

function skip(one: ConformanceCase, reason: string): Graded {
  return { one, fault: null, ms: 0, skipped: reason };
}

function toResult({ one, fault, ms, skipped }: Graded, advice: Advice | null, target: URL): CaseResult {
  const { id, group, title } = one;
  const [first] = one.requests.flat();
  const failure =
    fault === null || !first
      ? null
      : { problem: fault.problem, ...(advice ?? adviseByAnswer(one, fault.kind)), curl: formatCurl(first, target) };
  return { id, group, title, passed: failure === null && skipped === null, ms, failure, skipped };
}

/** @internal */
export function toReport(results: readonly CaseResult[]): CheckReport {
  const passed = results.filter((result) => result.passed).length;
  const skipped = results.filter((result) => result.skipped !== null).length;
  return { passed, failed: results.length - passed - skipped, skipped, results, causes: listCauses(results) };
}

function listCauses(results: readonly CaseResult[]): Cause[] {
  const causes = new Map<string, Cause>();
  for (const { id, failure } of results) {
    if (!failure) continue;
    const { mistake, fix } = failure;
    causes.set(mistake, { mistake, fix, cases: [...(causes.get(mistake)?.cases ?? []), id] });
  }
  return [...causes.values()].sort((a, b) => b.cases.length - a.cases.length);
}

/** @internal Throws TypeError for an address that is none. */
export function parseAddress(url: string): URL {
  const target = new URL(url);
  if (!/^https?:$/.test(target.protocol)) throw new TypeError("The address of the receiver must begin with http:// or https://.");
  return target;
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
