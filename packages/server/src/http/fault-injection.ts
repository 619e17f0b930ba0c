import type { Fault } from "@mailsvc/sdk/contract";
import { ERRORS } from "@mailsvc/sdk/contract";
import { ApiError } from "../lib/api-error.ts";
import type { Clock } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";
import { type Random, seededRandom } from "../lib/random.ts";
import type { HeaderList } from "./headers.ts";

/** Marks a response whose connection is cut instead. */
export const DROP_HEADER = "x-mailsvc-drop";

interface Rule {
  fault: Fault;
  random: Random;
  path: RegExp;
}

/** Rules that make requests fail on purpose (`/__dev/faults`). Kept in memory: they belong to an experiment, not to the data. */
export class FaultInjector {
  readonly #real: Clock["real"];
  readonly #ids: Ids;
  #rules: Rule[] = [];

  constructor(real: Clock["real"], ids: Ids) {
    this.#real = real;
    this.#ids = ids;
  }

  get any(): boolean {
    return this.#rules.length > 0;
  }

  list(): Fault[] {
    return this.#rules.map((r) => r.fault);
  }

  add(rule: Omit<Fault, "id" | "matched" | "hits">): Fault {
    const fault = { ...rule, id: this.#ids("flt"), matched: 0, hits: 0 };
    this.#rules.push({ fault, random: seededRandom(rule.seed), path: toPattern(rule.path) });
    return fault;
  }

  clear(): number {
    return this.#rules.splice(0).length;
  }

  /** Serves a request under the first rule that applies to it. Throws ApiError with the code of the rule. */
  async inject<R>(method: string, path: string, headers: HeaderList, serve: () => Promise<R>): Promise<R> {
    const hit = this.#rules.find((rule) => this.#applies(rule, method, path))?.fault;
    if (!hit) return serve();
    headers.push(["x-mailsvc-fault", hit.id]);
    if (hit.delayMs > 0) await this.#real.sleep(hit.delayMs);
    const before = hit.when === "before" && (hit.drop || hit.code !== undefined);
    const response = before ? null : await serve();
    if (hit.drop) headers.push([DROP_HEADER, "1"]);
    if (response && !hit.drop && hit.code === undefined) return response;
    const code = hit.code ?? "internal_error";
    const wait = code === "rate_limited" || code === "storage_unavailable" ? { "retry-after": "1" } : undefined;
    throw new ApiError(code, `Fault rule ${hit.id} made this request fail with ${ERRORS[code].status}.`, wait ? { headers: wait } : {});
  }

  #applies({ fault, random, path: pattern }: Rule, method: string, path: string): boolean {
    if ((fault.method && fault.method !== method) || !pattern.test(path)) return false;
    fault.matched += 1;
    if (fault.matched <= fault.skip || (fault.count !== undefined && fault.hits >= fault.count)) return false;
    if (fault.rate < 1 && random.fraction() >= fault.rate) return false;
    fault.hits += 1;
    return true;
  }
}

function toPattern(path: string): RegExp {
  return new RegExp(
    `^${path
      .split("*")
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join(".*")}$`,
  );
}
