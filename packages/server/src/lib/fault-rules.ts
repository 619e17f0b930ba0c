import type { Fault } from "@mailsvc/sdk/contract";
import type { Ids } from "./ids.ts";
import { type Random, seededRandom } from "./random.ts";

interface Rule {
  readonly fault: Fault;
  readonly random: Random;
  /** The path of a request, or an address of a conversation over SMTP; null for any. */
  readonly pattern: RegExp | null;
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
    const pattern = rule.smtp === undefined ? toPattern(rule.path, "") : rule.address === undefined ? null : toPattern(rule.address, "i");
    this.#rules.push({ fault, random: seededRandom(rule.seed), pattern });
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

function applies({ fault, random, pattern }: Rule, names: readonly string[]): boolean {
  if (pattern !== null && !names.some((name) => pattern.test(name))) return false;
  fault.matched += 1;
  if (fault.matched <= fault.skip || (fault.count !== undefined && fault.hits >= fault.count)) return false;
  if (fault.rate < 1 && random.fraction() >= fault.rate) return false;
  fault.hits += 1;
  return true;
}

/** The pattern of a path or an address in which `*` stands for anything. */
export function toPattern(text: string, flags: string): RegExp {
  const parts = text.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, flags);
}
