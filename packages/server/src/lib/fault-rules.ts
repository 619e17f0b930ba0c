import type { Fault } from "@mailsvc/sdk/contract";
import type { Ids } from "./ids.ts";
import { type Random, seededRandom } from "./random.ts";

interface Rule {
  readonly fault: Fault;
  readonly random: Random;
  /** Accepts the path of a request, or an address of a conversation over SMTP; null for any. */
  readonly fits: Matcher | null;
}

/** Rules that make requests and SMTP conversations fail on purpose. Kept in memory: they belong to an experiment, not to the data. */
export class FaultRules {
  readonly #ids: Ids;
  #rules: Rule[] = [];

  constructor(ids: Ids) {
    this.#ids = ids;
  }

  get any(): boolean {
    return this.#rules.length > 0;
  }

  list(): Fault[] {
    return this.#rules.map((rule) => rule.fault);
  }

  add(rule: Omit<Fault, "id" | "matched" | "hits">): Fault {
    const fault = { ...rule, id: this.#ids("flt"), matched: 0, hits: 0 };
    const { smtp, path, address } = rule;
    const fits = smtp === undefined ? createMatcher(path) : address === undefined ? null : createMatcher(address, { ignoreCase: true });
    this.#rules.push({ fault, random: seededRandom(rule.seed), fits });
    return fault;
  }

  clear(): number {
    return this.#rules.splice(0).length;
  }

  /** Takes the first rule that `wants` accepts, whose pattern fits one of the names, and that is due by its count and rate; null if none is. */
  take(wants: (fault: Fault) => boolean, names: readonly string[]): Fault | null {
    return this.#rules.find((rule) => wants(rule.fault) && applies(rule, names))?.fault ?? null;
  }
}

function applies({ fault, random, fits }: Rule, names: readonly string[]): boolean {
  if (fits !== null && !names.some(fits)) return false;
  fault.matched += 1;
  if (fault.matched <= fault.skip || (fault.count !== undefined && fault.hits >= fault.count)) return false;
  if (fault.rate < 1 && random.fraction() >= fault.rate) return false;
  fault.hits += 1;
  return true;
}

/** Tells if a text fits a pattern. */
export type Matcher = (text: string) => boolean;

/**
 * Makes a matcher for a path or an address in which `*` stands for anything. Each part is taken where it first stands, so that no pattern
 * takes longer than its length times that of the text; a regular expression tries all places of all parts.
 */
export function createMatcher(pattern: string, { ignoreCase = false } = {}): Matcher {
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const [first = "", ...parts] = fold(pattern).split("*");
  const last = parts.pop();
  return (given) => {
    const text = fold(given);
    if (last === undefined) return text === first;
    const end = text.length - last.length;
    let at = first.length;
    if (end < at || !text.startsWith(first) || !text.endsWith(last)) return false;
    for (const part of parts) {
      const found = text.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}
