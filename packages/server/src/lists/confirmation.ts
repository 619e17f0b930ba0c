import { createHash } from "node:crypto";
import { LIST_LIMITS } from "@mailsvc/sdk/contract";
import { and, eq, isNull } from "drizzle-orm";
import { type ContactRow, holdContacts } from "../contacts/contacts.ts";
import { incrementCounters } from "../counters/counters.ts";
import type { Reader, Tx } from "../db/db.ts";
import { send } from "../emails/emails.ts";
import { escapeHtml } from "../html/escape.ts";
import { renderMail } from "../html/mail.ts";
import { type PageBrand, renderMessage, renderName } from "../html/page.ts";
import { chooseTexts, type ReaderWishes, type Texts } from "../html/texts.ts";
import { brokenLink } from "../lib/api-error.ts";
import { makeUnsubscribeHeaders, makeUnsubscribeUrl } from "../unsubscribe/unsubscribe.ts";
import { getPageBrand } from "../workspaces/workspaces.ts";
import type { ListDeps } from "./lists.ts";
import { announceMembers, computeExpiry, type ListRow, type MemberRow } from "./members.ts";

/** A contact that was asked to confirm its membership of a list. */
interface Invitation {
  list: ListRow;
  contact: ContactRow;
  member: MemberRow;
}

/**
 * Sends a pending member a confirmation email, queued like every other email, in the language of the page that they signed up on, with
 * the page behind its link in the same. Earlier links stop working. Throws ApiError
 * sender_not_verified or recipient_suppressed.
 */
export async function invite(
  tx: Tx,
  deps: ListDeps,
  { list, contact, member }: Invitation,
  pageLanguage: string | null = null,
): Promise<MemberRow> {
  const token = Buffer.from(deps.random.bytes(24)).toString("hex");
  const { listMembers: t } = tx.t;
  const row: MemberRow = { ...member, tokenHash: hashToken(token), expiresAt: computeExpiry(deps.clock.now()) };
  await tx
    .update(t)
    .set({ tokenHash: row.tokenHash, expiresAt: row.expiresAt })
    .where(and(eq(t.listSeq, list.seq), eq(t.contactSeq, contact.seq)));
  const unsubscribeUrl = makeUnsubscribeUrl(deps, { workspaceId: list.workspaceId, email: contact.email });
  const brand = await getPageBrand(tx, list.workspaceId);
  const texts = chooseTexts(brand.texts, [pageLanguage, contact.language, list.language, brand.locale]);
  const query = pageLanguage === null ? "" : `?lang=${texts.language}`;
  const mail = renderMail({
    brand,
    texts,
    baseUrl: deps.baseUrl(),
    title: texts.say("confirmTitle"),
    text: texts.say("confirmText"),
    name: list.name,
    button: { label: texts.say("confirmButton"), url: `${deps.baseUrl()}/lists/confirm/${token}${query}` },
    notes: [texts.say("expiresInDays", { count: LIST_LIMITS.confirmDays }), texts.say("ignoreEmail")],
    unsubscribeUrl,
  });
  await send(tx, deps, {
    request: {
      to: contact.email,
      from: list.confirmationFrom ?? deps.config.mailFrom,
      subject: list.confirmationSubject ?? texts.say("confirmSubject", { list: list.name }),
      ...mail,
      headers: { ...makeUnsubscribeHeaders(unsubscribeUrl), "Content-Language": texts.language },
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
  if (!found || (found.member.status === "PENDING" && (found.member.expiresAt ?? 0) <= deps.clock.now())) throw brokenLink("linkConfirm");
  return found;
}

/** The HTML of the page behind the link. Opening it changes nothing, because mail scanners open links; its button confirms. */
export async function renderConfirmation(q: Reader, deps: ListDeps, invitation: Invitation, reader: ReaderWishes): Promise<string> {
  const { list, contact, member } = invitation;
  const { brand, texts } = await readPage(q, invitation, reader);
  if (member.status === "MEMBER") return renderConfirmed(deps, invitation, brand, texts);
  const question = texts.html("confirmQuestion", { address: renderName(contact.email), list: renderName(list.name) });
  return renderMessage(
    texts.say("confirmTitle"),
    `<p>${question}</p><form method="post"><button>${texts.html("confirmButton")}</button></form><p class="muted">${texts.html("closePage")}</p>`,
    { brand, texts, menu: {} },
  ).html;
}

/** Makes a pending contact a member; idempotent. Returns the HTML of the page that says so. Throws ApiError not_found. */
export async function confirm(tx: Tx, deps: ListDeps, token: string, reader: ReaderWishes): Promise<string> {
  const invitation = await getInvitation(tx, deps, token);
  const { list, contact, member } = invitation;
  const { brand, texts } = await readPage(tx, invitation, reader);
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
  return renderConfirmed(deps, invitation, brand, texts);
}

/** The brand of a page, and its texts in the reader's language. */
async function readPage(q: Tx | Reader, { list, contact }: Invitation, reader: ReaderWishes): Promise<{ brand: PageBrand; texts: Texts }> {
  const brand = await getPageBrand(q, list.workspaceId);
  return { brand, texts: chooseTexts(brand.texts, [contact.language, list.language, brand.locale], reader) };
}

function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function renderConfirmed(deps: ListDeps, { list, contact }: Invitation, brand: PageBrand, texts: Texts): string {
  const url = makeUnsubscribeUrl(deps, { workspaceId: list.workspaceId, email: contact.email });
  const link = texts.chooser === "menu" ? `${url}?lang=${texts.language}` : url;
  const text = texts.html("subscribedText", { address: renderName(contact.email), list: renderName(list.name) });
  return renderMessage(
    texts.say("subscribedTitle"),
    `<p>${text}</p><p class="muted"><a href="${escapeHtml(link)}">${texts.html("unsubscribe")}</a></p>`,
    { brand, texts, menu: {} },
  ).html;
}
