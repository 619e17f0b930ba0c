import type { Macs } from "../lib/macs.ts";

/** An address at the inbound domain: where bounces of an email go, or mail that unsubscribes its recipient. */
export interface InboundAddress {
  readonly kind: "bounce" | "unsubscribe";
  readonly emailId: string;
}

/** The addresses of emails at the inbound domain (VERP): each email has its own, so that what comes back is matched for certain. */
export interface ReturnPath {
  /** The address for MAIL FROM; undefined without an inbound domain. */
  bounceAddress(emailId: string): string | undefined;
  /** The address for List-Unsubscribe; undefined without an inbound domain. */
  unsubscribeAddress(emailId: string): string | undefined;
  /** Null for an address that this installation has not made. Upper and lower case are the same, as for some mail servers. */
  parse(address: string): InboundAddress | null;
}

const PREFIXES = { bounce: "b", unsubscribe: "u" } as const;

// A local part has at most 64 characters; this is 2 + 26 + 1 + 20.
const ADDRESS = /^([bu])-([0-9a-hjkmnp-tv-z]{26})-([0-9a-f]{20})@([^@]+)$/;

/** `domain` is the inbound domain, null if there is none. */
export function createReturnPath(macs: Macs, domain: string | null): ReturnPath {
  const build = (kind: InboundAddress["kind"], emailId: string): string | undefined => {
    if (domain === null) return undefined;
    const id = emailId.slice(3);
    return `${PREFIXES[kind]}-${id}-${macs.sign(`inbound ${kind}`, id, "hex")}@${domain}`;
  };
  return {
    bounceAddress: (emailId) => build("bounce", emailId),
    unsubscribeAddress: (emailId) => build("unsubscribe", emailId),
    parse: (address) => {
      const [, prefix, id, signature, host] = ADDRESS.exec(address.toLowerCase()) ?? [];
      if (domain === null || id === undefined || signature === undefined || host !== domain) return null;
      const kind = prefix === "b" ? "bounce" : "unsubscribe";
      return macs.verify(`inbound ${kind}`, id, signature, "hex") ? { kind, emailId: `em_${id}` } : null;
    },
  };
}
