import { ERRORS } from "@mailsvc/sdk/contract";
import { ApiError } from "../lib/api-error.ts";
import type { Clock } from "../lib/clock.ts";
import type { FaultRules } from "../lib/fault-rules.ts";
import type { HeaderList } from "./headers.ts";

/** Marks a response whose connection is cut instead. */
export const DROP_HEADER = "x-mailsvc-drop";

/** Lets requests fail by the rules of `/__dev/faults`. */
export class FaultInjector {
  readonly #rules: FaultRules;
  readonly #real: Clock["real"];

  constructor(rules: FaultRules, real: Clock["real"]) {
    this.#rules = rules;
    this.#real = real;
  }

  get any(): boolean {
    return this.#rules.any;
  }

  /** Serves a request under the first rule that applies to it. Throws ApiError with the code of the rule. */
  async inject<R>(method: string, path: string, headers: HeaderList, serve: () => Promise<R>): Promise<R> {
    const hit = this.#rules.take(({ smtp, method: only }) => smtp === undefined && (only === undefined || only === method), [path]);
    if (!hit) return serve();
    headers.push(["x-mailsvc-fault", hit.id]);
    if (hit.delayMs > 0) await this.#real.sleep(hit.delayMs);
    const named = typeof hit.code === "string" ? hit.code : null;
    const before = hit.when === "before" && (hit.drop || named !== null);
    const response = before ? null : await serve();
    if (hit.drop) headers.push([DROP_HEADER, "1"]);
    if (response && !hit.drop && named === null) return response;
    const code = named ?? "internal_error";
    const wait = code === "rate_limited" || code === "storage_unavailable" ? { "retry-after": "1" } : undefined;
    throw new ApiError(code, `Fault rule ${hit.id} made this request fail with ${ERRORS[code].status}.`, wait ? { headers: wait } : {});
  }
}
