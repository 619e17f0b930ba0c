import { isIP } from "node:net";
import { type DomainFinding, parseAddress, toDomain } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { isForbiddenAddress } from "../lib/guard-url.ts";
import type { SenderRelay } from "../relays/deps.ts";
import type { DomainDeps } from "./domains.ts";
import { Lookups } from "./lookups.ts";

/** The domain to check, with the facts known before DNS is asked for its records. */
export interface Subject {
  readonly domain: string;
  /** The address that mail is sent from; of a domain, one of it. */
  readonly from: string;
  /** The relay of its mail; null if that is captured. */
  readonly relay: SenderRelay | null;
  /** The public addresses that its mail leaves from, as far as they are known. */
  readonly addresses: readonly string[];
  /** Value that a domain's SPF record must include for the relay; null for a mail server of one's own. */
  readonly spfInclude: string | null;
  /** The domain of the return path. */
  readonly returnPath: string;
  /** A DKIM selector of a provider that signs the mail itself. */
  readonly selector: string | null;
  readonly lookups: Lookups;
}

/** Finds out whose mail it is, and which way it takes. */
export async function findSubject(
  read: Reader,
  deps: DomainDeps,
  workspaceId: string,
  { domain: text, selector, ip }: { readonly domain: string; readonly selector?: string | undefined; readonly ip?: string | undefined },
): Promise<Subject> {
  const domain = text.includes("@") ? parseAddress(text).domain : toDomain(text);
  const from = text.includes("@") ? parseAddress(text).address : `postmaster@${domain}`;
  const lookups = new Lookups(deps.dns, deps.clock.real);
  const relay = await deps.relays.findRelayOf(read, workspaceId, from);
  return {
    domain,
    from,
    relay,
    addresses: ip === undefined ? await findAddresses(lookups, relay) : [ip],
    spfInclude: relay && (findProvider(relay.host)?.spf ?? null),
    returnPath: deps.config.inboundDomain ?? domain,
    selector: selector ?? null,
    lookups,
  };
}

/** Builds a finding. */
export function finding(
  check: DomainFinding["check"],
  status: DomainFinding["status"],
  message: string,
  { record = null, hint = null }: Partial<Pick<DomainFinding, "record" | "hint">> = {},
): DomainFinding {
  return { check, status, message, record, hint };
}

/** Hint for name servers that do not answer. */
export const ASK_AGAIN = "Run it again later. If it stays, ask the operator of the domain's name servers.";

/** Hint when the sending address is unknown. */
export const GIVE_IP = "Check again and name the public address (ip) of the machine that delivers the mail.";

async function findAddresses(lookups: Lookups, relay: SenderRelay | null): Promise<string[]> {
  if (relay === null) return [];
  const found = isIP(relay.host) === 0 ? (await lookups.addresses(relay.host)).records : [relay.host];
  return found.filter((address) => isIP(address) !== 0 && !isForbiddenAddress(address, { dev: false }));
}

interface Provider {
  readonly name: string;
  readonly hosts: RegExp;
  /** Value that a domain's SPF record includes for it. */
  readonly spf: string;
}

/** Providers of relays whose SPF record is known by their host. They look after the PTR records of their addresses. */
const PROVIDERS: readonly Provider[] = [
  { name: "Amazon SES", hosts: /(?:^|\.)amazonaws\.com$/, spf: "amazonses.com" },
  { name: "Microsoft 365", hosts: /(?:^|\.)(?:office365|outlook)\.com$/, spf: "spf.protection.outlook.com" },
  { name: "Google", hosts: /(?:^|\.)(?:gmail|google|googlemail)\.com$/, spf: "_spf.google.com" },
  { name: "SendGrid", hosts: /(?:^|\.)sendgrid\.net$/, spf: "sendgrid.net" },
  { name: "Mailgun", hosts: /(?:^|\.)mailgun\.org$/, spf: "mailgun.org" },
  { name: "Postmark", hosts: /(?:^|\.)postmarkapp\.com$/, spf: "spf.mtasv.net" },
  { name: "Brevo", hosts: /(?:^|\.)(?:brevo|sendinblue)\.com$/, spf: "spf.brevo.com" },
  { name: "Mailjet", hosts: /(?:^|\.)mailjet\.com$/, spf: "spf.mailjet.com" },
];

/** The provider of a relay's host; null for any other mail server. */
export function findProvider(host: string): Provider | null {
  return PROVIDERS.find(({ hosts }) => hosts.test(host.toLowerCase())) ?? null;
}
