import type { Worker } from "node:worker_threads";
import { RECEIVED_LIMITS } from "@mailsvc/sdk/contract";
import type { Clock, Timer } from "../lib/clock.ts";
import { MB } from "../lib/units.ts";
import { MAIL_LIMITS } from "../mail/mail-start.ts";
import { type LoadProgram, MailNotRead, MailThread, stopped } from "./mail-thread.ts";
import type { ParsedMail, ReportEnvelope } from "./parse-mail.ts";
import type { CapturedContent } from "./read-captured.ts";
import type { ReadResult } from "./read-mail.ts";

/** Limits of the thread, and of the mails that wait for it. */
export interface ParserLimits {
  /**
   * Time limit for one mail, real time, ms. Within `MAIL_LIMITS` a mail takes 1 to 200 ms, and the start of a thread a second or, on a
   * busy machine, several.
   */
  readonly timeMs: number;
  /** The heap of the thread while it reads a mail, in megabytes. */
  readonly heapMb: number;
  /** With a heap of this many megabytes after a mail, most of it garbage, the thread reads no other one. */
  readonly reuseMb: number;
  /** Mails that wait while another one is read. */
  readonly waiting: number;
  /** Time for which the thread is kept without work, ms: it holds 20 MB. */
  readonly idleMs: number;
}

// A thread starts with 13 MB; a mail of a megabyte of text takes 25 MB more, and leaves half of them as garbage.
const LIMITS: ParserLimits = { timeMs: 10_000, heapMb: 64, reuseMb: 24, waiting: 100, idleMs: 10_000 };

// The youngest objects; without a limit of their own they may take a quarter of the machine.
const YOUNG_MB = 8;
// Interval of the check on the thread's heap while it reads, ms. V8's own limit is the last resort, and far from the first one: a thread
// that reaches it can end the whole process, when it allocates faster than it is stopped.
const HEAP_CHECK_MS = 20;
const LAST_RESORT = 8;

const NO_ENVELOPE: ReportEnvelope = { sender: null, about: [] };

/** Task for the thread: a mail in which to look for a report, a captured mail, or a mail to be stored. */
export type ParserTask =
  | { readonly kind: "report"; readonly raw: Uint8Array<ArrayBuffer>; readonly envelope: ReportEnvelope }
  | { readonly kind: "captured"; readonly raw: Uint8Array<ArrayBuffer> }
  | { readonly kind: "message"; readonly raw: Uint8Array<ArrayBuffer>; readonly maxText: number };

/** A mail that was read, with its bytes. */
interface MessageRead {
  readonly raw: Uint8Array<ArrayBuffer>;
  readonly result: ReadResult;
}

/** The thread's answer to a task. */
export interface ThreadAnswer {
  readonly answer: unknown;
  /** Its heap in bytes, with the garbage that reading has left. */
  readonly heapUsed: number;
}

interface Request {
  readonly task: ParserTask;
  resolve(answer: unknown): void;
  reject(error: MailNotRead): void;
}

/**
 * Reads foreign mail on its own thread, one at a time in the order of arrival: whatever a mail contains, the event loop goes on, and
 * a mail that takes too much time or memory ends this thread only. The next one gets a new thread.
 *
 * | parser is | trigger                           | becomes                                                            |
 * | --------- | --------------------------------- | ------------------------------------------------------------------ |
 * | idle      | `parse`                           | reading; a thread is started unless one is left                    |
 * | idle      | `idleMs` pass                     | idle, without a thread                                             |
 * | reading   | `parse`                           | reading, one more waits; refused when `waiting` others do          |
 * | reading   | the thread answers                | reading the next; idle when none waits; a large thread ends first  |
 * | reading   | `timeMs` pass, the thread ends    | the same, without a thread; the mail it read is refused            |
 * | any       | `close`                           | closed: the thread ends, all mails are refused                     |
 */
export class MailParser {
  readonly #real: Clock["real"];
  readonly #limits: ParserLimits;
  readonly #thread: MailThread<ParserTask, ThreadAnswer>;
  readonly #waiting: Request[] = [];
  #reading: { readonly request: Request; readonly deadline: Timer } | null = null;
  #heapCheck: Timer | null = null;

  constructor(real: Clock["real"], limits: Partial<ParserLimits> = {}, load: LoadProgram = loadProgram) {
    this.#real = real;
    this.#limits = { ...LIMITS, ...limits };
    const { idleMs, heapMb } = this.#limits;
    this.#thread = new MailThread({
      ...{ name: "mail-parser", load, real, idleMs },
      resourceLimits: { maxOldGenerationSizeMb: heapMb * LAST_RESORT, maxYoungGenerationSizeMb: YOUNG_MB },
      onAnswer: (answer) => this.#answered(answer),
      onEnd: (reason) => this.#finish(({ reject }) => reject(reason)),
      describe: (error) =>
        error === null ? new MailNotRead("The thread that read it ended.") : new MailNotRead(`Reading it failed: ${describe(error)}`, true),
    });
  }

  /** Looks for a report in the start of a mail. Throws MailNotRead when it took too much, or too many others wait. */
  async parse(mail: Uint8Array, envelope: ReportEnvelope = NO_ENVELOPE): Promise<ParsedMail> {
    // A copy, which goes over to the thread as it is.
    return (await this.#ask({ kind: "report", raw: new Uint8Array(mail.subarray(0, MAIL_LIMITS.bytes)), envelope })) as ParsedMail;
  }

  /**
   * Reads a whole mail to be stored. Its bytes go over to the thread and come back with the answer: the caller's view of them is empty
   * then. Throws MailNotRead as `parse` does.
   */
  async read(raw: Uint8Array<ArrayBuffer>): Promise<MessageRead> {
    return (await this.#ask({ kind: "message", raw, maxText: RECEIVED_LIMITS.text })) as MessageRead;
  }

  /** Reads a captured mail, whose bytes go over to the thread. Throws MailNotRead as `parse` does. */
  async readCaptured(raw: Uint8Array<ArrayBuffer>): Promise<CapturedContent> {
    return (await this.#ask({ kind: "captured", raw })) as CapturedContent;
  }

  /** The thread answers each kind of task with its own type. */
  async #ask(task: ParserTask): Promise<unknown> {
    await this.#thread.open();
    if (this.#waiting.length >= this.#limits.waiting) throw new MailNotRead(`${this.#waiting.length} other mails wait to be read.`);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, resolve, reject });
      this.#readNext();
    });
  }

  /** Ends the thread; mails that are not read yet are refused with MailNotRead. */
  async close(): Promise<void> {
    const closing = this.#thread.close();
    for (const { reject } of this.#waiting.splice(0)) reject(stopped());
    await closing;
  }

  #readNext(): void {
    if (this.#reading !== null || this.#thread.isClosed) return;
    const request = this.#waiting.shift();
    if (request === undefined) {
      this.#thread.rest();
      return;
    }
    this.#thread.post(request.task, [request.task.raw.buffer]);
    const { timeMs } = this.#limits;
    const late = new MailNotRead(`Reading it took more than ${timeMs} ms.`);
    this.#reading = { request, deadline: this.#real.after(timeMs, () => void this.#thread.end(late)) };
    this.#watchHeap(this.#thread.worker);
  }

  /** Ends the thread if it takes too much memory for the mail that it reads now. */
  #watchHeap(worker: Worker | null): void {
    const reading = this.#reading;
    this.#heapCheck = this.#real.after(HEAP_CHECK_MS, async () => {
      // A thread that only starts has no heap yet.
      const heap = await worker?.getHeapStatistics().catch(() => null);
      if (this.#thread.worker !== worker || this.#reading !== reading) return;
      if (heap && heap.used_heap_size > this.#limits.heapMb * MB) await this.#thread.end(tooLarge());
      else this.#watchHeap(worker);
    });
  }

  #answered({ answer, heapUsed }: ThreadAnswer): void {
    // Its garbage would count as what the next mail takes.
    if (heapUsed > this.#limits.reuseMb * MB) this.#thread.replace();
    this.#finish(({ resolve }) => resolve(answer));
  }

  #finish(settle: (request: Request) => void): void {
    const reading = this.#reading;
    this.#reading = null;
    reading?.deadline.cancel();
    this.#heapCheck?.cancel();
    if (reading !== null) settle(reading.request);
    this.#readNext();
  }
}

const loadProgram: LoadProgram = async () => (await import("./mail-parser-program.ts")).mailParserProgram;

function tooLarge(): MailNotRead {
  return new MailNotRead("Reading it failed: it took too much memory.", true);
}

/** The error of a thread, without what the mail contains. */
function describe(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException;
  return code === "ERR_WORKER_OUT_OF_MEMORY" ? "it took too much memory." : (code ?? name);
}
