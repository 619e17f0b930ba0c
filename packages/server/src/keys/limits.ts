import { AddressError, type Permission, parseAnyMailbox, toDomain } from "@mailsvc/sdk/contract";
import { invalid } from "../lib/api-error.ts";
import { parseIpNetwork } from "../lib/ip-network.ts";

interface WantedLimits {
  readonly permissions: readonly Permission[];
  readonly expiresAt?: string | undefined;
  readonly senders?: readonly string[] | undefined;
  readonly networks?: readonly string[] | undefined;
}

/** Reads the limits of a new key. Throws ApiError validation_error that names the field. */
export function parseLimits({ permissions, expiresAt, senders, networks }: WantedLimits, now: number) {
  const end = expiresAt === undefined ? null : Date.parse(expiresAt);
  if (end !== null && end <= now) throw invalid("expiresAt", "in_the_past", "A key must expire in the future.");
  networks?.forEach((text, i) => {
    if (parseIpNetwork(text) === null)
      throw invalid(`networks.${i}`, "invalid_network", "Write an address or a network such as 203.0.113.0/24 or 2001:db8::/32.");
  });
  const others = permissions.filter((one) => one !== "transactional:send" && !one.endsWith(":read"));
  if (senders !== undefined && others.length > 0)
    throw invalid(
      "permissions",
      "not_limitable",
      `A key that is limited to senders cannot have ${others.join(", ")}: they send in other ways.`,
    );
  return {
    expiresAt: end,
    senders: senders === undefined ? null : [...new Set(senders.map(toSender))],
    networks: networks === undefined ? null : [...new Set(networks)],
  };
}

/** True if mail from a mailbox is within a list of addresses and domains. */
export function isAllowedSender(senders: readonly string[], mailbox: string): boolean {
  const { key } = parseAnyMailbox(mailbox);
  return senders.includes(key) || senders.includes(key.slice(key.lastIndexOf("@") + 1));
}

/** The form in which addresses and domains are compared; a domain may be written as `@acme.example`. */
function toSender(text: string, i: number): string {
  const domain = text.trim().replace(/^@/, "");
  try {
    return domain.includes("@") ? parseAnyMailbox(text).key : toDomain(domain);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw invalid(`senders.${i}`, "invalid_sender", "Write an address such as hello@acme.example, or a domain such as acme.example.");
  }
}
