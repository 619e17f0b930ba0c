import type { MailAuthentication } from "@mailsvc/sdk/contract";

/**
 * True if the address in From may be believed: DMARC passes, or the domain has no DMARC record and signed the mail, itself or by
 * a domain above it. Also true of a mail that did not come over SMTP, or that a trusted server handed over. Never true with
 * several senders in From.
 */
export function isSenderCredible(authentication: MailAuthentication | null, fromKey: string | undefined): boolean {
  if (authentication === null) return true;
  const { spf, dmarc, signers } = authentication;
  if (dmarc === "permerror") return false;
  if (spf === null) return true;
  if (dmarc === "pass") return true;
  if (dmarc !== "none" || fromKey === undefined) return false;
  const domain = fromKey.slice(fromKey.lastIndexOf("@") + 1);
  return signers.some((signer) => domain === signer || domain.endsWith(`.${signer}`));
}
