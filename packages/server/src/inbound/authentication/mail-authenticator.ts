import type { MailAuthentication } from "@mailsvc/sdk/contract";
import { type Clock, type Timer, withinTime } from "../../lib/clock.ts";
import type { DomainRecords } from "../../lib/domain-records.ts";
import { MB, SECOND } from "../../lib/units.ts";
import { type LoadProgram, MailNotRead, MailThread, stopped } from "../mail-thread.ts";
import type { Peer } from "./authenticate.ts";

/** Message to the thread. */
export type ToThread =
  | { readonly kind: "mail"; readonly id: number; readonly raw: Uint8Array<ArrayBuffer>; readonly peer: Peer }
  | { readonly kind: "records"; readonly question: number; readonly records: unknown[] }
  | { readonly kind: "silence"; readonly question: number; readonly code: string };

/** Message of the thread: a question to the DNS, or its result for a mail. */
export type FromThread =
  | {
      readonly kind: "question";
      readonly question: number;
      readonly id: number;
      readonly method: keyof DomainRecords;
      readonly name: string;
    }
  | { readonly kind: "result"; readonly id: number; readonly raw: Uint8Array<ArrayBuffer>; readonly result: MailAuthentication };

/** Limits of the mails; times are ms of real time. */
export interface AuthenticatorLimits {
  /** All its lookups; what is not known by then is a `temperror`. */
  readonly dnsMs: number;
  /** From then on until the thread has hashed it: 25 MB take 0.3 s, of the worst text 5 s. */
  readonly hashMs: number;
  /** Time for which the thread is kept without work: it holds 15 MB. */
  readonly idleMs: number;
  /** Bytes of the mails that the thread has at once. It hashes one after the other: of the worst texts, this many take 10 s. */
  readonly bytes: number;
  /** Mails that wait for their turn. Their time has not begun. */
  readonly waiting: number;
}

const LIMITS: AuthenticatorLimits = { dnsMs: 5 * SECOND, hashMs: 20 * SECOND, idleMs: 10 * SECOND, bytes: 50 * MB, waiting: 100 };

// SPF may ask for 10 names with 10 mail servers each, which no real record does; DMARC for 8, DKIM for 8.
const MAX_LOOKUPS = 60;
// Answers are foreign input: of more, or longer, ones the rest is left out.
const MAX_RECORDS = 50;
const MAX_CHARACTERS = 4096;
const HEAP_MB = 256;

/** A mail that waits for its turn. */
interface Waiting {
  readonly raw: Uint8Array<ArrayBuffer>;
  readonly peer: Peer;
  resolve(answer: { raw: Uint8Array<ArrayBuffer>; authentication: MailAuthentication }): void;
  reject(error: MailNotRead): void;
}

/** A mail that the thread has, and its bytes with it. */
interface UnderWay extends Pick<Waiting, "resolve" | "reject"> {
  readonly size: number;
  /** Deadline of its lookups. It is set by the first one, because the thread may have to start. */
  until: number | null;
  readonly deadline: Timer;
  lookups: number;
}

/**
 * Authenticates the senders of mails on its own thread, several at a time, because most of the time they wait for the DNS: whatever a
 * mail contains, the event loop goes on. The DNS stays here; the thread asks for it. Large mails wait for each other, so that none is late
 * because of others. A mail that takes too much time ends the thread; the senders of the mails that it had are asked to try again.
 */
export class MailAuthenticator {
  readonly #dns: DomainRecords;
  readonly #real: Clock["real"];
  readonly #limits: AuthenticatorLimits;
  readonly #thread: MailThread<ToThread, FromThread>;
  readonly #waiting: Waiting[] = [];
  readonly #underWay = new Map<number, UnderWay>();
  #ids = 0;

  constructor(dns: DomainRecords, real: Clock["real"], limits: Partial<AuthenticatorLimits> = {}, load: LoadProgram = loadProgram) {
    this.#dns = dns;
    this.#real = real;
    this.#limits = { ...LIMITS, ...limits };
    this.#thread = new MailThread({
      ...{ name: "mail-authenticator", load, real, idleMs: this.#limits.idleMs },
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      onAnswer: (message) => (message.kind === "question" ? void this.#answer(message) : this.#finish(message)),
      onEnd: (reason) => this.#threadEnded(reason),
      describe: () => new MailNotRead("The thread that checked its signatures ended."),
    });
  }

  /**
   * Finds out what SPF, DKIM and DMARC say about a mail. Its bytes go over to the thread and come back with the answer: the caller's view
   * of them is empty then. Throws MailNotRead.
   */
  async authenticate(
    raw: Uint8Array<ArrayBuffer>,
    peer: Peer,
  ): Promise<{ readonly raw: Uint8Array<ArrayBuffer>; readonly authentication: MailAuthentication }> {
    await this.#thread.open();
    if (this.#waiting.length >= this.#limits.waiting) throw new MailNotRead(`${this.#waiting.length} other mails wait to be checked.`);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ raw, peer, resolve, reject });
      this.#takeNext();
    });
  }

  /** Ends the thread; mails that are under way, or wait, are refused with MailNotRead. */
  async close(): Promise<void> {
    const closing = this.#thread.close();
    for (const { reject } of this.#waiting.splice(0)) reject(stopped());
    await closing;
  }

  /** Gives the thread the mails that it has room for, in the order of their arrival. */
  #takeNext(): void {
    const { dnsMs, hashMs, bytes } = this.#limits;
    for (let next = this.#waiting[0]; next !== undefined && !this.#thread.isClosed; next = this.#waiting[0]) {
      const taken = [...this.#underWay.values()].reduce((sum, { size }) => sum + size, 0);
      if (taken > 0 && taken + next.raw.length > bytes) return;
      this.#waiting.shift();
      this.#ids += 1;
      const { raw, peer, resolve, reject } = next;
      const size = raw.length;
      this.#thread.post({ kind: "mail", id: this.#ids, raw, peer }, [raw.buffer]);
      const late = new MailNotRead(`Checking its signatures took more than ${dnsMs + hashMs} ms.`);
      const deadline = this.#real.after(dnsMs + hashMs, () => void this.#thread.end(late));
      this.#underWay.set(this.#ids, { size, until: null, deadline, lookups: 0, resolve, reject });
    }
  }

  /** Answers a question of the thread, within the number and the time of lookups that its mail has left. */
  async #answer({ question, id, method, name }: Extract<FromThread, { kind: "question" }>): Promise<void> {
    const { worker } = this.#thread;
    const mail = this.#underWay.get(id);
    if (mail) mail.until ??= this.#real.now() + this.#limits.dnsMs;
    const left = (mail?.until ?? 0) - this.#real.now();
    const silence = (code: string): ToThread => ({ kind: "silence", question, code });
    const ask = async (): Promise<ToThread> => {
      if (mail === undefined || left <= 0) return silence("ETIMEOUT");
      mail.lookups += 1;
      if (mail.lookups > MAX_LOOKUPS) return silence("ETOOMANY");
      const asked = this.#dns[method](name).then(
        (records): ToThread => ({ kind: "records", question, records: records.slice(0, MAX_RECORDS).map(shorten) }),
        (error: { code?: unknown }) => silence(String(error.code ?? "error").slice(0, 40)),
      );
      return withinTime(this.#real, left, asked, silence("ETIMEOUT"));
    };
    const answer = await ask();
    if (this.#thread.worker === worker) this.#thread.post(answer, []);
  }

  #finish({ id, raw, result }: Extract<FromThread, { kind: "result" }>): void {
    const mail = this.#underWay.get(id);
    this.#underWay.delete(id);
    mail?.deadline.cancel();
    mail?.resolve({ raw, authentication: result });
    this.#takeNext();
    if (this.#underWay.size === 0) this.#thread.rest();
  }

  #threadEnded(reason: MailNotRead): void {
    const lost = [...this.#underWay.values()];
    this.#underWay.clear();
    for (const { deadline, reject } of lost) {
      deadline.cancel();
      reject(reason);
    }
    this.#takeNext();
  }
}

const loadProgram: LoadProgram = async () => (await import("./mail-authenticator-program.ts")).mailAuthenticatorProgram;

/** A record of the DNS, short enough to be worked on. */
function shorten(record: unknown): unknown {
  return typeof record === "string" ? record.slice(0, MAX_CHARACTERS) : record;
}
