import { BlockList, isIPv6 } from "node:net";
import type { Lookups } from "./lookups.ts";

/*
 * SPF (RFC 7208). A record is read with all that it includes, whatever address would match first: so its lookups are those of the worst
 * case.
 */

/** Lookups that receivers make for a record at most; beyond them it is an error (4.6.4). */
const MAX_SPF_LOOKUPS = 10;
/** Lookups without an answer that receivers make at most. */
const MAX_VOID_LOOKUPS = 2;
// Limit of reading: the record is an error long before.
const STOP_AT = 30;

export interface SpfRecord {
  readonly text: string;
  readonly terms: readonly SpfTerm[];
}

interface SpfTerm {
  readonly qualifier: "+" | "-" | "~" | "?";
  readonly name: string;
  /** Text after the name: a domain, an address, a prefix. */
  readonly value: string;
  readonly text: string;
}

/** A record with what it refers to. */
interface SpfNode {
  readonly rules: readonly Rule[];
  readonly redirect: SpfNode | null;
}

interface Rule {
  readonly qualifier: SpfTerm["qualifier"];
  /** True if an address matches; null if that cannot be known. */
  readonly matches: (address: string) => boolean | null;
}

/** A record as receivers see it. */
export interface SpfReading {
  readonly node: SpfNode;
  readonly lookups: number;
  /** Domains that are included, directly or through others. */
  readonly includes: ReadonlySet<string>;
  /** Reasons receivers treat it as an error. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** The SPF records among TXT records: there should be one. */
export function findSpfRecords(texts: readonly string[]): SpfRecord[] {
  return texts.filter((text) => /^v=spf1(?: |$)/i.test(text)).map((text) => ({ text, terms: parseTerms(text) }));
}

/** Reads a record of a domain and what it refers to. */
export async function readSpf(lookups: Lookups, domain: string, record: SpfRecord): Promise<SpfReading> {
  const reader = new SpfReader(lookups);
  const node = await reader.read(domain, record, []);
  if (reader.lookups > MAX_SPF_LOOKUPS)
    reader.errors.push(
      `It needs ${reader.lookups >= STOP_AT ? `${STOP_AT} or more` : reader.lookups} lookups; receivers stop at ${MAX_SPF_LOOKUPS}.`,
    );
  if (reader.voids > MAX_VOID_LOOKUPS)
    reader.warnings.push(`${reader.voids} of the names in it do not exist; receivers accept ${MAX_VOID_LOOKUPS}.`);
  const { lookups: count, includes, errors, warnings } = reader;
  return { node, lookups: count, includes, errors, warnings };
}

/** True if a record lets an address send; null if that depends on the mail, or could not be looked up. */
export function isPermitted({ rules, redirect }: SpfNode, address: string): boolean | null {
  for (const { qualifier, matches } of rules) {
    const matched = matches(address);
    if (matched === null) return null;
    if (matched) return qualifier === "+";
  }
  return redirect === null ? false : isPermitted(redirect, address);
}

/** A record that has a further term, before the one that is for all others. */
export function addTerm({ terms }: SpfRecord, term: string): string {
  return formatTerms([...terms.map(({ text }) => text), term]);
}

/** One record in place of several. */
export function mergeRecords(records: readonly SpfRecord[]): string {
  return formatTerms([...new Set(records.flatMap(({ terms }) => terms.map(({ text }) => text)))]);
}

const isLast = (term: string): boolean => /^(?:[+\-~?]?all$|redirect=)/i.test(term);

function formatTerms(terms: readonly string[]): string {
  const last = terms.filter(isLast);
  return ["v=spf1", ...terms.filter((term) => !isLast(term)), ...last.slice(0, 1)].join(" ");
}

function parseTerms(text: string): SpfTerm[] {
  const words = text.split(/ +/).slice(1).filter(Boolean);
  return words.map((word) => {
    const [, qualifier = "+", name = "", value = ""] = /^([+\-~?])?([A-Za-z][A-Za-z0-9_.-]*)?(.*)$/.exec(word) ?? [];
    return { qualifier: qualifier as SpfTerm["qualifier"], name: name.toLowerCase(), value, text: word };
  });
}

class SpfReader {
  readonly errors: string[] = [];
  readonly warnings: string[] = [];
  readonly includes = new Set<string>();
  lookups = 0;
  voids = 0;
  readonly #dns: Lookups;

  constructor(dns: Lookups) {
    this.#dns = dns;
  }

  /** `path`: the domains whose records led here. */
  async read(domain: string, { terms }: SpfRecord, path: readonly string[]): Promise<SpfNode> {
    const here = [...path, domain];
    const rules: Rule[] = [];
    let redirect: SpfNode | null = null;
    for (const term of terms) {
      if (this.lookups >= STOP_AT) break;
      if (term.name === "redirect") redirect = await this.#readOther(term, here);
      else if (term.name === "exp" || term.value.startsWith("=")) continue;
      else rules.push({ qualifier: term.qualifier, matches: await this.#readRule(term, here) });
    }
    // `all` is reached before a redirect, which then does not count.
    return { rules, redirect: terms.some(({ name }) => name === "all") ? null : redirect };
  }

  async #readRule(term: SpfTerm, path: readonly string[]): Promise<Rule["matches"]> {
    const { name, value, text } = term;
    if (name === "all") return () => true;
    if (name === "ip4" || name === "ip6") return this.#readRange(text, value.slice(1));
    if (name === "include") {
      const node = await this.#readOther(term, path);
      return (address) => (node === null ? null : isPermitted(node, address));
    }
    if (name === "a" || name === "mx") return this.#readNames(name, value, path);
    if (name === "ptr" || name === "exists") {
      this.lookups += 1;
      if (name === "ptr") this.warnings.push("It uses ptr, which is slow and must not be used any more (RFC 7208 5.5).");
      return () => null;
    }
    this.errors.push(`It has a term that does not exist: ${text.slice(0, 60)}`);
    return () => false;
  }

  #readRange(term: string, range: string): Rule["matches"] {
    const list = new BlockList();
    const [address = "", prefix] = range.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    try {
      list.addSubnet(address, prefix === undefined ? (family === "ipv6" ? 128 : 32) : Number(prefix), family);
    } catch {
      this.errors.push(`It has an address that does not exist: ${term.slice(0, 60)}`);
    }
    return (one) => list.check(one, isIPv6(one) ? "ipv6" : "ipv4");
  }

  /** The addresses of a name (`a`), or of its mail servers (`mx`). */
  async #readNames(kind: "a" | "mx", value: string, path: readonly string[]): Promise<Rule["matches"]> {
    this.lookups += 1;
    const [, named = "", prefix4 = "32", prefix6 = "128"] = /^(?::([^/]*))?(?:\/(\d+))?(?:\/\/(\d+))?$/.exec(value) ?? [];
    const name = named || (path.at(-1) ?? "");
    if (name.includes("%")) return () => null;
    const hosts = kind === "a" ? [name] : (await this.#dns.mx(name)).records.slice(0, 10).map(({ exchange }) => exchange);
    const answers = await Promise.all(hosts.map((host) => this.#dns.addresses(host)));
    const found = answers.flatMap(({ records }) => records);
    if (answers.some(({ fault }) => fault !== null)) return () => null;
    if (found.length === 0) this.voids += 1;
    const ranges = found.map((address) => this.#readRange(address, `${address}/${isIPv6(address) ? prefix6 : prefix4}`));
    return (address) => ranges.some((matches) => matches(address) === true);
  }

  /** The record that an `include` or a `redirect` names. */
  async #readOther({ value, text }: SpfTerm, path: readonly string[]): Promise<SpfNode | null> {
    this.lookups += 1;
    const domain = value.slice(1).toLowerCase().replace(/\.$/, "");
    if (domain.includes("%")) return null;
    if (path.includes(domain)) {
      this.errors.push(`It includes itself: ${[...path, domain].join(", then ")}.`.slice(0, 300));
      return null;
    }
    this.includes.add(domain);
    const { records, fault } = await this.#dns.txt(domain);
    const [record, ...others] = findSpfRecords(records);
    if (fault !== null) this.warnings.push(fault);
    else if (record === undefined) this.errors.push(`${text.slice(0, 80)} leads to no SPF record.`);
    else if (others.length > 0) this.errors.push(`${text.slice(0, 80)} leads to several SPF records.`);
    return record && others.length === 0 ? this.read(domain, record, path) : null;
  }
}
