import type { DomainCheck, DomainFinding, MailsvcContract, Output } from "@mailsvc/sdk/contract";
import { safeText } from "../runtime/safe-text.ts";
import type { Session } from "../types.ts";
import { paintStatus } from "./status.ts";
import type { View } from "./view.ts";

export const domainViews: Readonly<Record<string, View>> = {
  "domains.check": { object: renderDomainCheck },
  "me.checkRelays": { object: renderRelayChecks },
};

// The width of a status and of the name of a check, with the blanks after them.
const INDENT = 18;

/** The findings about a domain, each record to publish on a line of its own, to be copied. */
export function renderDomainCheck({ domain, relay, returnPathDomain, findings, ok }: DomainCheck, { term: { out } }: Session): string {
  const way = relay === null ? "no relay takes its mail" : `its mail takes the relay ${relay}`;
  const returns = returnPathDomain === domain ? "" : `, bounces come back to ${returnPathDomain}`;
  const verdict = ok ? out.green("all checks passed") : out.red("some checks failed");
  return [
    out.bold(safeText(domain)) + out.dim(safeText(`  ${way}${returns}`)),
    ...findings.map((one) => renderFinding(one, out)),
    verdict,
  ].join("\n");
}

function renderFinding({ status, check, message, record, hint }: DomainFinding, out: Session["term"]["out"]): string {
  const indent = " ".repeat(INDENT);
  const lines = [`${paintStatus(out, status)}${" ".repeat(8 - status.length)}${out.bold(check.padEnd(9))} ${safeText(message)}`];
  if (record) lines.push(`${indent}${record.type} ${safeText(record.name)}`, `${indent}${safeText(record.value)}`);
  if (hint !== null) lines.push(indent + out.dim(safeText(hint)));
  return lines.join("\n");
}

function renderRelayChecks({ data }: Output<MailsvcContract["me"]["checkRelays"]>, { term: { out } }: Session): string {
  if (data.length === 0) return "No relay: mail is captured.";
  const width = Math.max(...data.map(({ name }) => name.length));
  return data
    .map(({ name, ok, reason, ms }) => {
      const status = ok ? "ok" : "fail";
      return `${paintStatus(out, status)}${" ".repeat(6 - status.length)}${out.bold(name.padEnd(width))}  ${safeText(reason ?? `connected in ${ms} ms`)}`;
    })
    .join("\n");
}
