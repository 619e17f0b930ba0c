import { createHash } from "node:crypto";
import { LIST_LIMITS } from "@mailsvc/sdk/contract";
import { and, eq, isNull } from "drizzle-orm";
import { type ContactRow, holdContacts } from "../contacts/contacts.ts";
import { incrementCounters } from "../counters/counters.ts";
import type { Reader, Tx } from "../db/db.ts";
import { send } from "../emails/emails.ts";
import { escapeHtml } from "../html/escape.ts";
import { renderMail } from "../html/mail.ts";
import { renderMessage, renderName } from "../html/page.ts";
import { brokenLink } from "../lib/api-error.ts";
import { makeUnsubscribeHeaders, makeUnsubscribeUrl } from "../unsubscribe/unsubscribe.ts";
import { getPageBrand } from "../workspaces/workspaces.ts";
import type { ListDeps } from "./deps.ts";
import { announceMembers, computeExpiry, type MemberRow } from "./members.ts";
import type { ListRow } from "./store.ts";

/** A contact that was asked to confirm its membership of a list. */
interface Invitation {
  list: ListRow;
  contact: ContactRow;
  member: MemberRow;
}

/**
 * Sends a pending member a confirmation email, queued like every other email. Earlier links stop working. Throws ApiError
 * sender_not_verified or recipient_suppressed.
 */
export async function invite(tx: Tx, deps: ListDeps, { list, contact, member }: Invitation): Promise<MemberRow> {
  const token = Buffer.from(deps.random.bytes(24)).toString("hex");
  const { listMembers: t } = tx.t;
  const row: MemberRow = { ...member, tokenHash: hashToken(token), expiresAt: computeExpiry(deps.clock.now()) };
  await tx
    .update(t)
    .set({ tokenHash: row.tokenHash, expiresAt: row.expiresAt })
    .where(and(eq(t.listSeq, list.seq), eq(t.contactSeq, contact.seq)));
  const unsubscribeUrl = makeUnsubscribeUrl(deps, { workspaceId: list.workspaceId, email: contact.email });
  const subject = list.confirmationSubject ?? `Confirm your subscription to ${list.name}`;
  const mail = renderMail({
    brand: await getPageBrand(tx, list.workspaceId),
    baseUrl: deps.baseUrl(),
    title: "Confirm your subscription",
    text: "Please confirm that you want to receive email from this list:",
    name: list.name,
    button: { label: "Confirm subscription", url: `${deps.baseUrl()}/lists/confirm/${token}` },
    notes: [`This link expires in ${LIST_LIMITS.confirmDays} days.`, "If you didn't ask for this, ignore this email."],
    unsubscribeUrl,
  });
  await send(tx, deps, {
    request: {
      to: contact.email,
      from: list.confirmationFrom ?? deps.config.mailFrom,
      subject,
      ...mail,
      headers: makeUnsubscribeHeaders(unsubscribeUrl),
    },
    workspaceId: list.workspaceId,
    test: false,
    files: [],
  });
  return row;
}

/** The pending or confirmed membership of a link's token. Throws ApiError not_found for an unknown or expired token. */
export async function getInvitation(q: Tx | Reader, deps: ListDeps, token: string): Promise<Invitation> {
  const name = "find_invitation";
  const [found] = await q
    .prepared(name, (build, { listMembers: m, lists: l, contacts: c }, arg) =>
      build
        .select({ member: m, list: l, contact: c })
        .from(m)
        .innerJoin(l, eq(l.seq, m.listSeq))
        .innerJoin(c, eq(c.seq, m.contactSeq))
        .where(and(eq(m.tokenHash, arg("tokenHash")), isNull(l.deletedAt))),
    )
    .execute({ tokenHash: hashToken(token) });
  if (!found || (found.member.status === "PENDING" && (found.member.expiresAt ?? 0) <= deps.clock.now()))
    throw brokenLink("This link is invalid or has expired.", "Ask for another confirmation email.");
  return found;
}

/** The HTML of the page behind the link. Opening it changes nothing, because mail scanners open links; its button confirms. */
export async function renderConfirmation(q: Reader, deps: ListDeps, { list, contact, member }: Invitation): Promise<string> {
  if (member.status === "MEMBER") return renderConfirmed(q, deps, { list, contact });
  return renderMessage(
    "Confirm your subscription",
    `<p>Subscribe ${renderName(contact.email)} to ${renderName(list.name)}?</p><form method="post"><button>Confirm subscription</button></form><p class="muted">If you didn't ask for this, close this page.</p>`,
    await getPageBrand(q, list.workspaceId),
  ).html;
}

/** Makes a pending contact a member; idempotent. Returns the HTML of the page that says so. Throws ApiError not_found. */
export async function confirm(tx: Tx, deps: ListDeps, token: string): Promise<string> {
  const { list, contact, member } = await getInvitation(tx, deps, token);
  if (member.status === "PENDING") {
    const { listMembers: t } = tx.t;
    const moved = await tx
      .update(t)
      .set({ status: "MEMBER", joinedAt: deps.clock.now() })
      .where(and(eq(t.listSeq, list.seq), eq(t.contactSeq, contact.seq), eq(t.status, "PENDING")))
      .returning({ seq: t.contactSeq });
    if (moved.length > 0) {
      const { seq } = contact;
      await incrementCounters(tx, list.id, [
        { kind: "PENDING", seq, by: -1 },
        { kind: "MEMBER", seq, by: 1 },
      ]);
      await announceMembers(tx, deps, list, "list.joined", await holdContacts(tx, list.workspaceId, [contact]));
    }
  }
  return renderConfirmed(tx, deps, { list, contact });
}

function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

async function renderConfirmed(q: Tx | Reader, deps: ListDeps, { list, contact }: Pick<Invitation, "list" | "contact">): Promise<string> {
  const url = makeUnsubscribeUrl(deps, { workspaceId: list.workspaceId, email: contact.email });
  return renderMessage(
    "You're subscribed",
    `<p>${renderName(contact.email)} is on the list ${renderName(list.name)}. You can close this page.</p><p class="muted">You can <a href="${escapeHtml(url)}">unsubscribe</a> at any time.</p>`,
    await getPageBrand(q, list.workspaceId),
  ).html;
}
