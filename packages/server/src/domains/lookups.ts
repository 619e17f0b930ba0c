import { type Clock, withinTime } from "../lib/clock.ts";
import type { DomainRecords, MailExchange } from "../lib/domain-records.ts";
import { SECOND } from "../lib/units.ts";

/** Answer of the name servers. A fault explains, in a sentence, why the records are unknown; then there are none. */
export interface Answer<T> {
  readonly records: readonly T[];
  readonly fault: string | null;
}

// All together; what is asked for later is not looked up.
const LIMIT_MS = 12 * SECOND;
const EACH_MS = 5 * SECOND;
// SPF alone may ask for 10 names, each with 10 mail servers.
const MAX_LOOKUPS = 150;
// Answers are foreign input: of more, or longer, ones the rest is left out.
const MAX_RECORDS = 50;
const MAX_CHARACTERS = 4096;

const VALID_NAME = /^(?=.{1,253}$)[^.\s]{1,63}(?:\.[^.\s]{1,63})*$/;

/** The lookups of one check: each name is asked for once, and all of them within a number and a time. Never throws. */
export class Lookups {
  readonly #dns: DomainRecords;
  readonly #real: Clock["real"];
  readonly #startedAt: number;
  readonly #answers = new Map<string, Promise<Answer<unknown>>>();

  constructor(dns: DomainRecords, real: Clock["real"]) {
    this.#dns = dns;
    this.#real = real;
    this.#startedAt = real.now();
  }

  /** The TXT records of a name. */
  async txt(name: string): Promise<Answer<string>> {
    const { records, fault } = await this.#ask("TXT", name, () => this.#dns.txt(name));
    return { records: records.map((text) => text.slice(0, MAX_CHARACTERS)), fault };
  }

  mx(name: string): Promise<Answer<MailExchange>> {
    return this.#ask("MX", name, () => this.#dns.mx(name));
  }

  addresses(name: string): Promise<Answer<string>> {
    return this.#ask("A", name, () => this.#dns.addresses(name));
  }

  /** The names of an address. */
  names(address: string): Promise<Answer<string>> {
    return this.#ask("PTR", address, () => this.#dns.names(address));
  }

  #ask<T>(type: string, name: string, ask: () => Promise<T[]>): Promise<Answer<T>> {
    const key = `${type} ${name.toLowerCase()}`;
    // The records stored under a type are of that type.
    const known = this.#answers.get(key) as Promise<Answer<T>> | undefined;
    if (known) return known;
    const answer = this.#lookUp(name, ask);
    this.#answers.set(key, answer);
    return answer;
  }

  async #lookUp<T>(name: string, ask: () => Promise<T[]>): Promise<Answer<T>> {
    if (!VALID_NAME.test(name)) return failed(`${JSON.stringify(name.slice(0, 80))} is not a valid name.`);
    if (this.#answers.size >= MAX_LOOKUPS) return failed(`More than ${MAX_LOOKUPS} lookups would be needed.`);
    const left = LIMIT_MS - (this.#real.now() - this.#startedAt);
    const late = failed<T>(`The name servers for ${name} did not answer in time.`);
    if (left <= 0) return late;
    const answered = ask().then(
      (records): Answer<T> => ({ records: records.slice(0, MAX_RECORDS), fault: null }),
      (error: { code?: unknown }) =>
        failed<T>(`The name servers for ${name} did not answer (${String(error.code ?? "error").slice(0, 40)}).`),
    );
    return withinTime(this.#real, Math.min(left, EACH_MS), answered, late);
  }
}

function failed<T>(fault: string): Answer<T> {
  return { records: [], fault };
}

/** The tags of a record such as `v=DMARC1; p=none`, names in lower case, in their order; of a name that is there twice the first. */
export function parseTags(text: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const part of text.split(";")) {
    const at = part.indexOf("=");
    const name = part.slice(0, at).trim().toLowerCase();
    if (at > 0 && name !== "" && !tags.has(name)) tags.set(name, part.slice(at + 1).trim());
  }
  return tags;
}

/** A record of these tags. */
export function formatTags(tags: Iterable<readonly [string, string]>): string {
  return [...tags].map(([name, value]) => `${name}=${value}`).join("; ");
}

/** A foreign text, short enough for a message. */
export function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
