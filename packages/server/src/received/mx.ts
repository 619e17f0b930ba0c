import type { DomainRecords } from "../lib/domain-records.ts";
import type { RecordLook } from "../senders/senders.ts";

/** Looks whether the MX records of a domain lead its mail to a host: one names it, or the first one leads to the same address. */
export async function lookForMx(dns: Pick<DomainRecords, "mx" | "addresses">, domain: string, host: string): Promise<RecordLook> {
  try {
    const names = (await dns.mx(domain)).map(({ exchange }) => exchange.toLowerCase().replace(/\.$/, "")).filter(Boolean);
    const [first] = names;
    if (first === undefined) return { fault: `There is no MX record at ${domain}, so its mail does not come here.`, answered: true };
    if (names.includes(host)) return { fault: null, answered: true };
    const [here, there] = await Promise.all([host, first].map((name) => dns.addresses(name)));
    const fault = here?.some((address) => there?.includes(address))
      ? null
      : `The MX record at ${domain} names ${names.slice(0, 3).join(", ")}, not ${host}, so its mail does not come here.`;
    return { fault, answered: true };
  } catch (error) {
    const code = String((error as { code?: string }).code ?? "error");
    return { fault: `The name servers of ${domain} did not answer (${code}).`, answered: false };
  }
}
