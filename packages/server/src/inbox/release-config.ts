import { addressKey, EmailAddress, toDomain } from "@mailsvc/sdk/contract";

/** The mail server that sends captured mail on, and the addresses it may go to. */
export interface ReleaseConfig {
  /** An SMTP URL. */
  readonly relay: string;
  /** Whole addresses, and `*@domain` for all of a domain; in the form addresses are compared in. */
  readonly allowed: readonly string[];
}

/** Reads --release-relay and --release-to; null without them. Calls `fail` with what is wrong. */
export function readRelease(relay: string | null, to: string | undefined, fail: (message: string) => never): ReleaseConfig | null {
  if (relay === null && to === undefined) return null;
  if (relay === null) fail("--release-to needs --release-relay, the mail server that captured mail is sent on by.");
  if (to === undefined)
    fail("--release-relay needs --release-to, the addresses that captured mail may be sent on to, such as *@example.com.");
  return { relay, allowed: to.split(",").map((part) => readPattern(part.trim(), fail)) };
}

/** True if a pattern of the list allows an address. */
export function isAllowed({ allowed }: ReleaseConfig, address: string): boolean {
  const key = addressKey(address);
  return allowed.includes(key) || allowed.includes(`*@${key.slice(key.lastIndexOf("@") + 1)}`);
}

function readPattern(pattern: string, fail: (message: string) => never): string {
  const [, domain] = /^\*@(.+)$/.exec(pattern) ?? [];
  if (domain === undefined) {
    if (!EmailAddress.safeParse(pattern).success) fail(`--release-to takes addresses and *@domain, not "${pattern}".`);
    return addressKey(pattern);
  }
  try {
    return `*@${toDomain(domain)}`;
  } catch (error) {
    return fail(`--release-to takes addresses and *@domain, not "${pattern}": ${(error as Error).message}`);
  }
}
