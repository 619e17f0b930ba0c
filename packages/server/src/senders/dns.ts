import type { SenderDeps, SenderRow } from "./senders.ts";

/** The TXT record that proves the control of a domain. It has its own name, so it cannot collide with other records. */
export function buildDnsRecord({ value, token }: Pick<SenderRow, "value" | "token">): { type: "TXT"; name: string; value: string } {
  return {
    type: "TXT",
    name: `_mailsvc.${value}`,
    value: `mailsvc-verify=${token}`,
  };
}

/** Result of a check for the TXT record of a domain. */
export interface RecordLook {
  /** Fault of the record, as a sentence; null if the record is there. */
  readonly fault: string | null;
  /** False if no name server answered, so that nobody knows whether it is there. */
  readonly answered: boolean;
}

/** Looks up the TXT record of a domain. */
export async function lookForRecord(deps: Pick<SenderDeps, "dns">, row: Pick<SenderRow, "value" | "token">): Promise<RecordLook> {
  const expected = buildDnsRecord(row);
  try {
    const found = await deps.dns.txt(expected.name);
    if (found.some((text) => text.trim() === expected.value)) return { fault: null, answered: true };
    const fault =
      found.length === 0
        ? `There is no TXT record at ${expected.name}.`
        : `The TXT record at ${expected.name} does not match: expected ${expected.value}.`;
    return { fault, answered: true };
  } catch (error) {
    const fault = `The name servers of ${row.value} did not answer (${String((error as { code?: string }).code ?? "error")}).`;
    return { fault, answered: false };
  }
}
