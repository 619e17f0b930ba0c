import type { DomainCheck, DomainFinding, MailsvcContract, Output } from "@mailsvc/sdk/contract";
import { safeText } from "../text/safe-text.ts";
import { wrapText } from "../text/table.ts";
import type { Session } from "../types.ts";
import { paintStatus } from "./status.ts";
import type { View } from "./view.ts";

export const domainViews: Readonly<Record<string, View>> = {
  "domains.check": { object: renderDomainCheck },
  "me.checkRelays": { object: renderRelayChecks },
};

// The widths of a status and of the name of a check, each with the blanks after it.
const STATUS = 9;
const CHECK = 11;

/** The findings about a domain, each record to publish on its own line, to be copied. */
export function renderDomainCheck({ domain, relay, returnPathDomain, findings, ok }: DomainCheck, { term }: Session): string {
  const { out } = term;
  const way = relay === null ? "no relay takes its mail" : `its mail takes the relay ${relay}`;
  const returns = returnPathDomain === domain ? "" : `, bounces come back to ${returnPathDomain}`;
  const skipped = findings.filter(({ status }) => status === "skipped").length;
  const left = skipped === 0 ? "" : out.dim(`, ${skipped} skipped`);
  const verdict = (ok ? out.green(skipped === 0 ? "all checks passed" : "no check failed") : out.red("some checks failed")) + left;
  return [
    out.bold(safeText(domain)) + out.dim(safeText(`  ${way}${returns}`)),
    ...findings.map((one) => renderFinding(one, term)),
    verdict,
  ].join("\n");
}

function renderFinding({ status, check, message, record, hint }: DomainFinding, { out, columns }: Session["term"]): string {
  const indent = " ".repeat(STATUS + CHECK);
  const wrapped = (text: string): string => wrapText(safeText(text), Math.max(20, columns - indent.length)).replaceAll("\n", `\n${indent}`);
  const lines = [`${paintStatus(out, status)}${" ".repeat(STATUS - status.length)}${out.bold(check.padEnd(CHECK))}${wrapped(message)}`];
  // Records are copied, so they are not wrapped.
  if (record) lines.push(`${indent}${record.type} ${safeText(record.name)}`, `${indent}${safeText(record.value)}`);
  if (hint !== null) lines.push(indent + out.dim(wrapped(hint)));
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
