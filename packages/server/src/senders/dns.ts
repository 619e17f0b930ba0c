import type { SenderDeps } from "./deps.ts";
import type { SenderRow } from "./senders.ts";

/** The TXT record that proves the control of a domain. It has its own name, so it cannot collide with other records. */
export function buildDnsRecord({ value, token }: Pick<SenderRow, "value" | "token">): { type: "TXT"; name: string; value: string } {
  return {
    type: "TXT",
    name: `_mailsvc.${value}`,
    value: `mailsvc-verify=${token}`,
  };
}

/** Looks up the TXT record of a domain: null if it is there, else what is wrong, as a sentence. */
export async function checkDomain(deps: Pick<SenderDeps, "dns">, row: Pick<SenderRow, "value" | "token">): Promise<string | null> {
  const expected = buildDnsRecord(row);
  try {
    const found = await deps.dns.txt(expected.name);
    if (found.some((text) => text.trim() === expected.value)) return null;
    return found.length === 0
      ? `There is no TXT record at ${expected.name} yet.`
      : `The TXT record at ${expected.name} does not match: expected ${expected.value}.`;
  } catch (error) {
    return `The name servers of ${row.value} did not answer (${String((error as { code?: string }).code ?? "error")}).`;
  }
}
