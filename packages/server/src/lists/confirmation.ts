import { createHash } from "node:crypto";
import { and, eq, isNull } from "drizzle-orm";
import type { ContactRow } from "../contacts/contacts.ts";
import { incrementCounters } from "../counters/counters.ts";
import type { Reader, Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { send } from "../emails/emails.ts";
import { escapeHtml } from "../html/escape.ts";
import { renderMessage } from "../html/page.ts";
import { ApiError } from "../lib/api-error.ts";
import type { ListRow } from "./lists.ts";
import { announceMembers, computeExpiry, type MemberRow } from "./members.ts";

/** Whose link it is, and for which list. */
export interface Invitation {
  list: ListRow;
  contact: ContactRow;
  member: MemberRow;
}

/**
 * Gives a pending member a new link and sends it, through the same way as every email. The link before works no more.
 * Throws ApiError sender_not_verified or recipient_suppressed.
 */
export async function invite(tx: Tx, deps: Deps, { list, contact, member }: Invitation): Promise<MemberRow> {
  const token = Buffer.from(deps.random.bytes(24)).toString("hex");
  const { listMembers: t } = tx.t;
  const row: MemberRow = { ...member, tokenHash: hashOf(token), expiresAt: computeExpiry(deps.clock.now()) };
  await tx
    .update(t)
    .set({ tokenHash: row.tokenHash, expiresAt: row.expiresAt })
    .where(and(eq(t.listSeq, list.seq), eq(t.contactSeq, contact.seq)));
  const link = `${deps.baseUrl()}/lists/confirm/${token}`;
  const name = escapeHtml(list.name);
  await send(
    {
      to: contact.email,
      from: list.confirmationFrom ?? deps.config.mailFrom,
      subject: list.confirmationSubject ?? `Please confirm: ${list.name}`,
      text: `Somebody, probably you, asked for mail of ${list.name}.\n\nIf you want it, open this page and confirm:\n${link}\n\nIf not, do nothing.\n`,
      html: `<p>Somebody, probably you, asked for mail of <b>${name}</b>.</p><p>If you want it, <a href="${escapeHtml(link)}">open this page and confirm</a>.</p><p>If not, do nothing.</p>`,
    },
    tx,
    deps,
    list.workspaceId,
    [],
  );
  return row;
}

/** What stands behind the token of a link. Throws ApiError not_found when it never did, or no longer does. */
export async function invitationOf(q: Tx | Reader, deps: Deps, token: string): Promise<Invitation> {
  const { listMembers: m, lists: l, contacts: c } = q.t;
  const [found] = await q
    .select({ member: m, list: l, contact: c })
    .from(m)
    .innerJoin(l, eq(l.seq, m.listSeq))
    .innerJoin(c, eq(c.seq, m.contactSeq))
    .where(and(eq(m.tokenHash, hashOf(token)), isNull(l.deletedAt)));
  if (!found || (found.member.status === "PENDING" && (found.member.expiresAt ?? 0) <= deps.clock.now()))
    throw new ApiError("not_found", "This link is not valid, or no longer.", { hint: "Ask for another confirmation mail." });
  return found;
}

/** The page behind the link: opening it changes nothing, because mail scanners open links too; its button confirms. */
export function confirmPage({ list, contact, member }: Invitation): string {
  return member.status === "MEMBER"
    ? confirmedPage({ list, contact })
    : renderMessage(
        "Confirm",
        `<p>Shall mail of <b>${escapeHtml(list.name)}</b> go to <b>${escapeHtml(contact.email)}</b>?</p><form method="post"><button>Yes, confirm</button></form>`,
      ).html;
}

/** Makes a member of a pending one; one who is a member already stays it. Answers with the page that says so. */
export async function confirm(tx: Tx, deps: Deps, token: string): Promise<string> {
  const { list, contact, member } = await invitationOf(tx, deps, token);
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
      await announceMembers(tx, deps, list, "list.joined", [contact]);
    }
  }
  return confirmedPage({ list, contact });
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function confirmedPage({ list, contact }: Pick<Invitation, "list" | "contact">): string {
  return renderMessage(
    "Confirmed",
    `<p><b>${escapeHtml(contact.email)}</b> is on the list <b>${escapeHtml(list.name)}</b>. You may close this page.</p>`,
  ).html;
}
