import type { MailAuthentication } from "@mailsvc/sdk/contract";

/**
 * Whether the address in From may be believed: DMARC passes, or the domain has no DMARC record and signed the mail, itself or by a domain above
 * it. Also true where nobody could check it: for a mail that did not come over SMTP, or that a server of the own network handed over.
 */
export function isSenderCredible(authentication: MailAuthentication | null, fromKey: string | undefined): boolean {
  if (authentication === null || authentication.spf === null) return true;
  const { dmarc, signers } = authentication;
  if (dmarc === "pass") return true;
  if (dmarc !== "none" || fromKey === undefined) return false;
  const domain = fromKey.slice(fromKey.lastIndexOf("@") + 1);
  return signers.some((signer) => domain === signer || domain.endsWith(`.${signer}`));
}
