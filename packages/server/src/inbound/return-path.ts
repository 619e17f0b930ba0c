import type { Macs } from "../lib/macs.ts";

/** An address of an email: where its bounces go, mail that unsubscribes its recipient, or replies; or the one for complaints. */
export type InboundAddress =
  | { readonly kind: "bounce" | "unsubscribe" | "reply"; readonly emailId: string }
  /** The address that complaints of feedback loops go to; the report itself tells the email. */
  | { readonly kind: "complaint" };

/** The addresses of emails at the inbound domain (VERP): each email has its own, so that what comes back is matched for certain. */
export interface ReturnPath {
  /** The address for MAIL FROM; undefined without an inbound domain. */
  bounceAddress(emailId: string): string | undefined;
  /** The address for List-Unsubscribe; undefined without an inbound domain. */
  unsubscribeAddress(emailId: string): string | undefined;
  /** The address to register with feedback loops; undefined without an inbound domain. */
  complaintAddress(): string | undefined;
  /** The address for Reply-To; undefined when no mail is received. */
  replyAddress(emailId: string): string | undefined;
  /** Null for an address that this installation has not made. Upper and lower case are the same, as for some mail servers. */
  parse(address: string): InboundAddress | null;
}

const PREFIXES = { bounce: "b-", unsubscribe: "u-", complaint: "c-", reply: "reply+" } as const;

const KINDS = Object.keys(PREFIXES) as (keyof typeof PREFIXES)[];

// In place of an email's id.
const ALL_EMAILS = "0".repeat(26);

// A local part has at most 64 characters; this is 6 + 26 + 1 + 20.
const ADDRESS = /^([bcu]-|reply\+)([0-9a-hjkmnp-tv-z]{26})-([0-9a-f]{20})@([^@]+)$/;

/** `domain` is the inbound domain, null if there is none; replies may have their own. */
export function createReturnPath(macs: Macs, domain: string | null, replyDomain = domain): ReturnPath {
  const domainOf = (kind: InboundAddress["kind"]): string | null => (kind === "reply" ? replyDomain : domain);
  const build = (kind: InboundAddress["kind"], id: string): string | undefined =>
    domainOf(kind) === null ? undefined : `${PREFIXES[kind]}${id}-${macs.sign(`inbound ${kind}`, id, "hex")}@${domainOf(kind)}`;
  return {
    bounceAddress: (emailId) => build("bounce", emailId.slice(3)),
    unsubscribeAddress: (emailId) => build("unsubscribe", emailId.slice(3)),
    replyAddress: (emailId) => build("reply", emailId.slice(3)),
    complaintAddress: () => build("complaint", ALL_EMAILS),
    parse: (address) => {
      const [, prefix, id, signature, host] = ADDRESS.exec(address.toLowerCase()) ?? [];
      if (id === undefined || signature === undefined) return null;
      const kind = KINDS.find((one) => PREFIXES[one] === prefix);
      if (kind === undefined || host !== domainOf(kind) || !macs.verify(`inbound ${kind}`, id, signature, "hex")) return null;
      return kind === "complaint" ? { kind } : { kind, emailId: `em_${id}` };
    },
  };
}
