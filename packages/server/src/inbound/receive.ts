import { findEmailById } from "../emails/emails.ts";
import { unsubscribe } from "../unsubscribe/unsubscribe.ts";
import { applyReports } from "./apply.ts";
import type { InboundDeps } from "./deps.ts";
import type { MailParser } from "./mail-parser.ts";
import type { ParsedMail } from "./parse-mail.ts";
import type { Report } from "./report.ts";
import type { InboundAddress } from "./return-path.ts";

/**
 * What a received mail led to. `too-early`: the sender must try again, because the email is still being handed over. `unreadable`: it
 * exceeds what a mail may contain, and the reason is in the log.
 */
export type Received = "applied" | "ignored" | "too-early" | "unreadable";

/**
 * Receives a mail to addresses of the inbound domain: bounces, complaints, and mail that unsubscribes. Its effects are durable
 * when this returns. Mail that is none of these, such as an automatic reply, is taken and leads to nothing. Throws MailNotRead when
 * its sender must try again.
 */
export async function receiveMail(
  deps: InboundDeps,
  parser: MailParser,
  { addresses, raw }: { readonly addresses: readonly InboundAddress[]; readonly raw: Uint8Array },
): Promise<Received> {
  const mail = await parser.parse(raw);
  if (mail.fault !== null) {
    const emailIds = addresses.flatMap((address) => ("emailId" in address ? address.emailId : []));
    deps.log.warn("a mail to the inbound domain cannot be read", { reason: mail.fault, emailIds });
    return "unreadable";
  }
  const results: Received[] = [];
  for (const address of addresses)
    results.push(
      address.kind === "unsubscribe" ? await unsubscribeByMail(deps, address.emailId, mail) : await applyMail(deps, address, mail),
    );
  return (["too-early", "applied"] as const).find((result) => results.includes(result)) ?? "ignored";
}

/** The email that a report is about. */
type Found = Pick<Report, "emailId" | "recipient">;

async function applyMail(deps: InboundDeps, address: InboundAddress, { outcome, source, about }: ParsedMail): Promise<Received> {
  if (outcome === null) return "ignored";
  const found = "emailId" in address ? { emailId: address.emailId } : findEmail(deps, about);
  if (found === null) return "ignored";
  const report: Report = { ...found, source, key: buildKey(source, found, outcome), outcome };
  const [result] = await deps.db.tx((tx) => applyReports(tx, deps, [report], null));
  return result ?? "ignored";
}

/** One report of each kind counts per email and recipient, whichever server sends it, and however often. */
function buildKey(source: string, { emailId, recipient }: Found, outcome: NonNullable<ParsedMail["outcome"]>): string {
  const code = "error" in outcome ? (outcome.error.enhancedCode ?? outcome.error.smtpCode ?? "") : "";
  return [source, emailId, recipient, outcome.kind, code].filter(Boolean).join(" ");
}

/** Feedback loops do not know our return path, but return what they complain about. */
function findEmail({ returnPath }: InboundDeps, about: ParsedMail["about"]): Found | null {
  const address = about.returnPath === null ? null : returnPath.parse(about.returnPath);
  if (address?.kind === "bounce") return { emailId: address.emailId };
  const emailId = /^<(em_[0-9a-hjkmnp-tv-z]{26})@/.exec(about.messageId ?? "")?.[1];
  return emailId === undefined ? null : { emailId, recipient: about.recipient };
}

/** An automatic reply, or the bounce of a reply, is nobody's wish to unsubscribe. */
async function unsubscribeByMail(deps: InboundDeps, emailId: string, { automatic }: ParsedMail): Promise<Received> {
  if (automatic) return "ignored";
  return deps.db.tx(async (tx) => {
    const email = await findEmailById(tx, emailId);
    if (!email) return "ignored";
    await unsubscribe(tx, deps, { workspaceId: email.workspaceId, email: email.to, emailId }, "mailto");
    return "applied";
  });
}
