import type { ContractCalls } from "../http/contract-calls.ts";
import type { Dialect } from "../http/dialect.ts";
import type { DialectDeps } from "./deps.ts";
import { createResend } from "./resend/resend.ts";
import { createSendgrid } from "./sendgrid/sendgrid.ts";
import { createSes } from "./ses/ses.ts";

export { DIALECT_ENVIRONMENTS, listDialectVariables } from "./environment.ts";
export { attachmentPage } from "./resend/download-links.ts";

/** All dialects. `devKey` stands for any key of the other services; null outside of dev mode. */
export function createDialects(deps: DialectDeps, contract: ContractCalls, devKey: string | null): readonly Dialect[] {
  return [createResend(deps, contract, devKey), createSendgrid(deps, contract, devKey), createSes(deps, contract, devKey)];
}
