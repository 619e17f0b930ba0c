import { createWriteStream } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { ErrorCode, Explanation } from "@mailsvc/sdk/contract";
import type { Db, Tx } from "../db/db.ts";
import type { StatusChange } from "../emails/emails.ts";
import type { EventListener } from "../events/events.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { MB } from "../lib/units.ts";
import type { Queue } from "../queue/queue.ts";
import type { SubmissionReport } from "../submission/submission.ts";
import { collectLines, toMoment } from "./collect.ts";
import { Coverage, type CoverageReport } from "./coverage.ts";
import type { Line, LineOf } from "./lines.ts";
import { type RecordedRequest, RequestTap } from "./requests.ts";
import { SecretFilter, type SecretPage } from "./secrets.ts";

export type { CoverageReport, Reached } from "./coverage.ts";
export type { LineOf } from "./lines.ts";

/** Options of a recorder. */
interface RecorderOptions {
  /** The version of this program. */
  readonly version: string;
  /** The command for which the server runs; empty without one. */
  readonly command: readonly string[];
  /** Real time, ms since 1970. */
  now(): number;
}

/** Summary of a run, in figures and words. */
export interface RunSummary {
  readonly requests: number;
  /** Requests by their status, such as 404. */
  readonly byStatus: Readonly<Record<string, number>>;
  /** Messages over SMTP, and refusals before there was one, by the code of the reply, such as 550. */
  readonly smtp: Readonly<Record<string, number>>;
  readonly mails: number;
  /** Emails by their state. */
  readonly emails: Readonly<Record<string, number>>;
  readonly deliveries: Readonly<Record<string, number>>;
  /** Requests that a fault rule made fail. */
  readonly faults: number;
  /** Emails and webhook deliveries that did not arrive, with the reasons. */
  readonly problems: readonly LineOf<"explanation">[];
  readonly coverage: CoverageReport;
}

const MAX_BODY = 16 * 1024;
const MAX_LOG_LINES = 10_000;
const MAX_SMTP_LINES = 10_000;
const MAX_TEXT = 64 * MB;
// Deliveries under way when a run ends have this long to end too.
const SETTLE_MS = 1000;

/**
 * Records a run of a dev server: requests and answers, mail, emails with their events, deliveries to webhooks, moves of the
 * clock, faults and the log. The database is read when the run ends, and before each reset. Secrets are removed.
 */
export class RunRecorder {
  /** @internal */
  readonly coverage = new Coverage();
  readonly #options: RecorderOptions;
  readonly #requests: RequestTap;
  readonly #startedAt: number;
  readonly #log: LineOf<"log">[] = [];
  readonly #smtp: LineOf<"smtp">[] = [];
  readonly #earlier: Line[] = [];
  #round = 0;
  #deps: RecordingDeps | null = null;
  readonly #filter = new SecretFilter();
  #listPages: () => Promise<readonly SecretPage[]> = async () => [];

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#startedAt = options.now();
    const clock = (): number => this.#deps?.clock.now() ?? options.now();
    this.#requests = new RequestTap({ now: options.now, clock }, (request, authorization) => this.#answered(request, authorization));
  }

  /** Connects the recorder with its server. `listPages` gives all that is served; `secrets` are never recorded. @internal */
  attach(deps: RecordingDeps, listPages: () => Promise<readonly SecretPage[]>, secrets: readonly (string | null)[]): void {
    this.#deps = deps;
    this.#listPages = listPages;
    for (const secret of secrets) this.#filter.add(secret);
  }

  /** Records what is logged, and passes it on. */
  log(to: Log): Log {
    const at =
      (level: keyof Log) =>
      (message: string, facts: Record<string, unknown> = {}): void => {
        this.#log.push({ kind: "log", at: toMoment(this.#options.now()), level, message, facts });
        if (this.#log.length > MAX_LOG_LINES) this.#log.shift();
        to[level](message, facts);
      };
    return { info: at("info"), warn: at("warn"), error: at("error") };
  }

  /** Listens to a request that comes over the network. */
  readonly tap = (req: IncomingMessage, res: ServerResponse): void => this.#requests.follow(req, res);

  /** @internal */
  readonly errorListener = (code: ErrorCode): void => this.coverage.addError(code);

  /** @internal */
  readonly submissionListener = (report: SubmissionReport): void => {
    const at = this.#options.now();
    this.#smtp.push({ kind: "smtp", at: toMoment(at), clock: toMoment(this.#deps?.clock.now() ?? at), ...report, to: [...report.to] });
    if (this.#smtp.length > MAX_SMTP_LINES) this.#smtp.shift();
  };

  /** @internal */
  readonly statusListener = async (tx: Tx, changes: readonly StatusChange[]): Promise<void> => {
    tx.afterCommit(() => this.coverage.addChanges(changes));
  };

  /** @internal */
  readonly eventListener: EventListener = async (tx, events) => {
    tx.afterCommit(() => this.coverage.addEvents(events));
  };

  /** Keeps what the database holds, which is about to be replaced. */
  async beforeReplaced(what: string): Promise<void> {
    this.#earlier.push(...(await this.#collect()), { kind: "reset", round: this.#round, at: toMoment(this.#options.now()), what });
    this.#round += 1;
  }

  /** Reads everything that a recording, a summary or coverage needs. Call it while the server still runs. */
  async end(exitCode: number): Promise<EndedRun> {
    const { clock, queue } = this.#deps ?? {};
    if (clock && queue) await Promise.race([queue.idle(), clock.real.sleep(SETTLE_MS)]);
    const data = [...this.#earlier, ...(await this.#collect())];
    const { requests, dropped } = this.#requests.all;
    const at = this.#options.now();
    const lines: Line[] = [
      {
        kind: "recording",
        version: 1,
        mailsvc: this.#options.version,
        node: process.version,
        platform: process.platform,
        command: this.#filter.cleanCommand(this.#options.command),
        startedAt: toMoment(this.#startedAt),
      },
      ...this.#toLines(requests),
      ...this.#smtp,
      ...this.#log,
      ...data,
    ];
    const end = { exitCode, at: toMoment(at), ms: Math.round(at - this.#startedAt) };
    return new EndedRun(lines, { ...end, dropped, requests, coverage: this.coverage.report(), filter: this.#filter });
  }

  async #collect(): Promise<Line[]> {
    if (this.#deps === null) return [];
    this.#filter.addPages(await this.#listPages());
    const lines = await collectLines(this.#deps, this.#filter, this.#round);
    for (const line of lines)
      if (line.kind === "delivery" && line.log.some((attempt) => attempt.class === "ok"))
        this.coverage.addDelivery(line.receiver.startsWith("agent ") ? "agentEvents" : "webhookEvents", line.type);
    return lines;
  }

  #answered({ url, body: sent, answer, answerHeaders }: RecordedRequest, authorization: string | undefined): void {
    this.#filter.add(authorization?.replace(/^\S+\s+/, ""));
    this.#filter.learnRequest(parseJson(sent.text), /^[^?]*\/webhooks(?:[/?]|$)/.test(url));
    if (!answerHeaders["content-type"]?.startsWith("application/json")) return;
    const body = parseJson(answer.text);
    this.#filter.learn(body);
    this.coverage.addAnswer(body);
  }

  #toLines(requests: readonly RecordedRequest[]): Line[] {
    return requests.flatMap((request): Line[] => {
      const { at, clock, url, body, answer, answerHeaders: headers, ...rest } = request;
      const path = this.#filter.cleanUrl(url);
      const cut = ({ text, size }: RecordedRequest["body"]) => ({ text: this.#filter.cleanBody(text).slice(0, MAX_BODY), size });
      const line: LineOf<"request"> = {
        kind: "request",
        at: toMoment(at),
        clock: toMoment(clock),
        path,
        ...rest,
        answerHeaders: headers["location"] === undefined ? headers : { ...headers, location: this.#filter.cleanUrl(headers["location"]) },
        body: cut(body),
        answer: cut(answer),
      };
      return [line, ...toControl(line, answer.text)];
    });
  }
}

interface EndFacts {
  readonly at: string;
  readonly ms: number;
  readonly exitCode: number;
  readonly dropped: number;
  readonly requests: readonly RecordedRequest[];
  readonly coverage: CoverageReport;
  readonly filter: SecretFilter;
}

/** A run that has ended. */
export class EndedRun {
  readonly #lines: readonly Line[];
  readonly #facts: EndFacts;

  constructor(lines: readonly Line[], facts: EndFacts) {
    this.#lines = lines;
    this.#facts = facts;
  }

  /** The command, without secrets among its arguments. */
  get command(): readonly string[] {
    return this.#lines.find((line) => line.kind === "recording")?.command ?? [];
  }

  /** Returns the summary of the run, without secrets. */
  summary(): RunSummary {
    const of = <Kind extends Line["kind"]>(kind: Kind): LineOf<Kind>[] =>
      this.#lines.filter((line): line is LineOf<Kind> => line.kind === kind);
    const requests = of("request");
    return {
      requests: requests.length + this.#facts.dropped,
      byStatus: count(requests.map(({ status }) => String(status ?? "none"))),
      smtp: count(of("smtp").map(({ reply }) => reply.slice(0, 3))),
      mails: of("mail").length,
      emails: count(of("email").map(({ status }) => status)),
      deliveries: count(of("delivery").map(({ state }) => state)),
      faults: requests.filter(({ answerHeaders }) => "x-mailsvc-fault" in answerHeaders).length,
      problems: of("explanation").map((line) => this.#facts.filter.cleanValue(line) as LineOf<"explanation">),
      coverage: this.#facts.coverage,
    };
  }

  /** Writes the recording: gzip of one JSON document a line, readable by its owner only. Rejects with the system's error. */
  async write(file: string): Promise<void> {
    await pipeline(Readable.from(this.#serialize()), createGzip(), createWriteStream(file, { mode: 0o600 }));
  }

  *#serialize(): Generator<string> {
    const { at, ms, exitCode, dropped, coverage, filter } = this.#facts;
    const omitted: Record<string, number> = dropped > 0 ? { request: dropped } : {};
    let length = 0;
    for (const line of this.#lines) {
      // The bytes of a mail were cleaned part by part.
      const cleaned =
        line.kind === "mail"
          ? { ...line, to: filter.clean(line.to), from: filter.clean(line.from), subject: filter.clean(line.subject) }
          : filter.cleanValue(line);
      const text = JSON.stringify(cleaned);
      length += text.length;
      if (length > MAX_TEXT) omitted[line.kind] = (omitted[line.kind] ?? 0) + 1;
      else yield `${text}\n`;
    }
    yield `${JSON.stringify({ kind: "coverage", ...coverage } satisfies LineOf<"coverage">)}\n`;
    yield `${JSON.stringify({ kind: "end", at, exitCode, ms, omitted } satisfies LineOf<"end">)}\n`;
  }
}

/** A move of the clock or a change of the fault rules, which are requests too. */
function toControl({ at, method, path, status }: LineOf<"request">, answer: string): Line[] {
  const [, noun, action = ""] = /^\/__dev\/(clock|faults)(?:\/([a-z]+))?$/.exec(path) ?? [];
  if (noun === undefined || method === "GET" || status === null || status >= 300) return [];
  if (noun === "faults") return [{ kind: "fault", at, action: method === "DELETE" ? "cleared" : "added", rule: answer.slice(0, MAX_BODY) }];
  const state = parseJson(answer);
  if (typeof state !== "object" || state === null || !("now" in state) || !("mode" in state)) return [];
  const fired = "fired" in state && Array.isArray(state.fired) ? state.fired : [];
  return [{ kind: "clock", at, action, now: String(state.now), mode: String(state.mode), fired }];
}

function count(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Parts of a server that its recorder reads. @internal */
export interface RecordingDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly queue: Pick<Queue, "idle">;
  /** Explains an object of a workspace. Throws ApiError not_found. */
  explain(workspaceId: string, id: string): Promise<Explanation>;
}
