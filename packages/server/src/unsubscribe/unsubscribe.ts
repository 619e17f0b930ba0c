import { addressKey } from "@mailsvc/sdk/contract";
import { type ContactRow, findContactByEmail, resolveContacts, updateContact } from "../contacts/contacts.ts";
import type { ContactDeps } from "../contacts/deps.ts";
import type { Reader, Tx } from "../db/db.ts";
import type { HeldEmailId } from "../db/held.ts";
import { findEmail, holdEmail } from "../emails/emails.ts";
import { recordEvents } from "../events/events.ts";
import { escapeHtml } from "../html/escape.ts";
import { type PageBrand, type RenderedPage, renderMessage, renderName, renderSender, toPrivateResponse } from "../html/page.ts";
import { chooseTexts, readWishes, type Texts } from "../html/texts.ts";
import type { PageResponse, PublicPage } from "../http/public/public-pages.ts";
import { isTestMail } from "../lib/ids.ts";
import type { Seal } from "../lib/seal.ts";
import { findSuppressions, suppress } from "../suppressions/suppressions.ts";
import { getPageBrand } from "../workspaces/workspaces.ts";
import { openToken, type Subscriber } from "./link.ts";

export { addUnsubscribe, makeUnsubscribeHeaders, makeUnsubscribeUrl, offerUnsubscribe, readUnsubscribeSubject } from "./link.ts";

// A form with a few hundred lists.
const FORM_BYTES = 64 * 1024;

/** Contents of a page: the brand, the reader and the language. */
interface View {
  readonly brand: PageBrand;
  readonly subscriber: Subscriber;
  readonly texts: Texts;
}

/**
 * The page behind the links. Opening it changes nothing, because mail scanners open links. Its form and the one click of a
 * mail program (RFC 8058 3.1) send a POST: with `action=save` the person leaves the lists that are not ticked, with `action=again`
 * one who unsubscribed is subscribed again; every other POST unsubscribes from all marketing mail, so that no mail program's way to
 * say it is lost. A language that is chosen in the menu of the page becomes the contact's with `action=save`.
 */
export function unsubscribePages(deps: UnsubscribeDeps, lists: SubscriberLists): readonly PublicPage[] {
  const { read } = deps.db;
  const done = async (view: View): Promise<PageResponse> =>
    toPrivateResponse(renderDone(view, await canResubscribe(read, view.subscriber)));
  return [
    {
      path: "/unsubscribe/:token",
      methods: ["GET", "POST"],
      whenFull: true,
      serve: async ({ method, params, query, header, body }) => {
        const subscriber = openToken(deps, params.token ?? "");
        const { workspaceId, email } = subscriber;
        const brand = await getPageBrand(read, workspaceId);
        const contact = await findContactByEmail(read, workspaceId, email);
        const texts = chooseTexts(brand.texts, [contact?.language, brand.locale], readWishes(query, header));
        const view: View = { brand, subscriber, texts };
        if (method !== "POST") {
          if (await hasUnsubscribed(read, subscriber)) return done(view);
          return toPrivateResponse(renderChoice(view, await lists.find(read, subscriber)));
        }
        const form = new URLSearchParams(Buffer.from(await body(FORM_BYTES)).toString("utf8"));
        const action = form.get("action");
        if (action === "again") {
          await deps.db.tx((tx) => resubscribe(tx, deps, subscriber));
          if (await isUnsubscribed(read, subscriber)) return done(view);
          return toPrivateResponse(renderAgain(view));
        }
        if (action !== "save") {
          await deps.db.tx((tx) => unsubscribe(tx, deps, subscriber, action === null ? "one-click" : "page"));
          return done(view);
        }
        const kept = new Set(form.getAll("list"));
        const shown = new Set(form.getAll("shown"));
        await deps.db.tx(async (tx) => {
          if (texts.chooser === "menu") await chooseLanguage(tx, deps, subscriber, texts.language);
          await leaveLists(tx, deps, subscriber, lists, ({ id }) => shown.has(id) && !kept.has(id));
        });
        return toPrivateResponse(renderSaved(view, await lists.find(read, subscriber)));
      },
    },
  ];
}

function renderChoice({ brand, subscriber, texts }: View, lists: readonly SubscriberList[]): RenderedPage {
  const [sender, address] = [renderSender(brand, texts), renderName(subscriber.email)];
  const options = { brand, texts, menu: {} };
  if (lists.length === 0)
    return renderMessage(
      texts.say("unsubscribe"),
      `<p>${texts.html("stopQuestion", { sender, address })}</p><form method="post"><button name="action" value="all">${texts.html("unsubscribe")}</button></form>`,
      options,
    );
  const choices = lists
    .map(
      ({ id, name }) =>
        `<p><label><input type="checkbox" name="list" value="${escapeHtml(id)}" checked> <span><bdi>${escapeHtml(name)}</bdi></span></label><input type="hidden" name="shown" value="${escapeHtml(id)}"></p>`,
    )
    .join("");
  return renderMessage(
    texts.say("preferencesTitle"),
    `<p>${texts.html("preferencesQuestion", { sender, address })}</p>
<form method="post" class="choices" aria-label="${texts.html("lists")}">${choices}<p><button name="action" value="save">${texts.html("savePreferences")}</button></p></form>
<form method="post"><p>${texts.html("stopAll", { sender })}</p><button class="plain" name="action" value="all">${texts.html("unsubscribeAll")}</button></form>`,
    options,
  );
}

function renderDone({ brand, subscriber, texts }: View, undoable: boolean): RenderedPage {
  const again = `<form method="post"><p>${texts.html("mistake")}</p><button class="plain" name="action" value="again">${texts.html("subscribeAgain")}</button></form>`;
  const text = texts.html("unsubscribedText", { address: renderName(subscriber.email), sender: renderSender(brand, texts) });
  return renderMessage(texts.say("unsubscribedTitle"), `<p>${text}</p>${undoable ? again : ""}`, { brand, texts, menu: {} });
}

function renderAgain({ brand, subscriber, texts }: View): RenderedPage {
  const text = texts.html("resubscribedText", { address: renderName(subscriber.email), sender: renderSender(brand, texts) });
  return renderMessage(texts.say("resubscribedTitle"), `<p>${text}</p>${renderChange(texts)}`, { brand, texts, menu: {} });
}

function renderSaved({ brand, subscriber, texts }: View, lists: readonly SubscriberList[]): RenderedPage {
  const address = renderName(subscriber.email);
  const rest = lists.map(({ name }) => `<li><bdi>${escapeHtml(name)}</bdi></li>`).join("");
  const body =
    rest === ""
      ? `<p>${texts.html("savedNone", { address })}</p>`
      : `<p>${texts.html("savedSome", { address, count: lists.length })}</p><ul>${rest}</ul>${renderChange(texts)}`;
  return renderMessage(texts.say("savedTitle"), body, { brand, texts, menu: {} });
}

/** A link to the address of this page itself. */
function renderChange(texts: Texts): string {
  return `<p><a href="">${texts.html("changeMore")}</a></p>`;
}

/** Dependencies of unsubscribe links. */
export interface LinkDeps {
  readonly seal: Seal;
  /** The public address of this server, without a trailing slash. Known once it listens. */
  baseUrl(): string;
}

/** Dependencies of unsubscribing. */
export interface UnsubscribeDeps extends ContactDeps, LinkDeps {
  readonly returnPath: { unsubscribeAddress(emailId: string): string | undefined };
}

/** The lists of a person, as the preference page shows them; `features.ts` connects them. */
export interface SubscriberLists {
  find(q: Tx | Reader, subscriber: Subscriber): Promise<readonly SubscriberList[]>;
  leave(tx: Tx, subscriber: Subscriber, listId: string): Promise<void>;
}

interface SubscriberList {
  readonly id: string;
  readonly name: string;
}

/**
 * Way in which a person unsubscribed: by the page of the link, by one click in a mail program, by an email to the address in its
 * header, or at the provider that delivered the mail.
 */
type UnsubscribeMethod = "page" | "one-click" | "mailto" | "provider";

/**
 * Stops marketing mail to an address: it is suppressed, and its contact becomes UNSUBSCRIBED; in addition to a bounce or another reason
 * that is there already, it is stored that the person unsubscribed. Idempotent. By the link in a test mail nothing happens but the event:
 * nobody has received it.
 */
export async function unsubscribe(tx: Tx, deps: UnsubscribeDeps, subscriber: Subscriber, method: UnsubscribeMethod): Promise<void> {
  const { workspaceId, email } = subscriber;
  if (await hasUnsubscribed(tx, subscriber)) return;
  // Before what follows from it, as people read the events.
  const origin = await recordUnsubscribed(tx, deps, subscriber, { method, scope: "all" });
  if (isTestMail(subscriber.emailId)) return;
  const wanted = { reason: "unsubscribe", scope: "marketing", source: "unsubscribe", ...origin } as const;
  await suppress(tx, deps, workspaceId, { email, ...wanted });
  // The contact that got the mail may have another address by now: it is the same person.
  const [contact] = origin?.contactId ? await resolveContacts(tx, workspaceId, [origin.contactId]) : [];
  if (contact && contact.emailKey !== addressKey(email)) await suppress(tx, deps, workspaceId, { email: contact.email, ...wanted });
}

/** Takes a person off lists, and nothing else. Lists that the person is not on, or cannot see, are ignored. */
async function leaveLists(
  tx: Tx,
  deps: UnsubscribeDeps,
  subscriber: Subscriber,
  lists: SubscriberLists,
  leaving: (list: SubscriberList) => boolean,
): Promise<void> {
  const left = (await lists.find(tx, subscriber)).filter(leaving);
  if (left.length === 0) return;
  await recordUnsubscribed(tx, deps, subscriber, { method: "page", scope: "lists", lists: left.map(({ id }) => id) });
  if (isTestMail(subscriber.emailId)) return;
  for (const { id } of left) await lists.leave(tx, subscriber, id);
}

/** True if an address gets no marketing mail, for whatever reason. */
async function isUnsubscribed(q: Tx | Reader, subscriber: Subscriber): Promise<boolean> {
  return (await findOwnSuppression(q, subscriber)) !== undefined;
}

/** True if a person unsubscribed, whatever else suppresses the address. */
async function hasUnsubscribed(q: Tx | Reader, subscriber: Subscriber): Promise<boolean> {
  return ((await findOwnSuppression(q, subscriber))?.unsubscribedAt ?? null) !== null;
}

async function findOwnSuppression(q: Tx | Reader, { workspaceId, email }: Subscriber) {
  const key = addressKey(email);
  return (await findSuppressions(q, workspaceId, [key])).get(key);
}

/** True if a person may undo that they unsubscribed. */
async function canResubscribe(q: Tx | Reader, subscriber: Subscriber): Promise<boolean> {
  return (await findUnsubscribed(q, subscriber)) !== null;
}

/**
 * Undoes that a person unsubscribed, by their own wish, of which `contact.subscribed` is the proof: it names the email whose page was
 * used. Does nothing where `canResubscribe` says no.
 */
async function resubscribe(tx: Tx, deps: UnsubscribeDeps, subscriber: Subscriber): Promise<void> {
  if (isTestMail(subscriber.emailId)) return;
  const contact = await findUnsubscribed(tx, subscriber);
  if (!contact) return;
  const email = await findOrigin(tx, subscriber);
  const cause = { source: "preferences", emailId: email && (await holdEmail(tx, email)), campaignId: email?.campaignId } as const;
  await updateContact(tx, deps, subscriber.workspaceId, contact.id, { status: "SUBSCRIBED" }, cause);
}

/** Stores the language that a person chose, if the address is a contact's. */
async function chooseLanguage(tx: Tx, deps: UnsubscribeDeps, subscriber: Subscriber, language: string): Promise<void> {
  if (isTestMail(subscriber.emailId)) return;
  const contact = await findContactByEmail(tx, subscriber.workspaceId, subscriber.email);
  if (contact) await updateContact(tx, deps, subscriber.workspaceId, contact.id, { language }, { source: "preferences" });
}

/** The contact of a person whom only their own word keeps from getting marketing mail: no bounce, no complaint, no decision of the sender. */
async function findUnsubscribed(q: Tx | Reader, subscriber: Subscriber): Promise<ContactRow | null> {
  const { workspaceId, email } = subscriber;
  const suppression = await findOwnSuppression(q, subscriber);
  if (suppression?.reason !== "unsubscribe" || suppression.scope !== "marketing") return null;
  const contact = await findContactByEmail(q, workspaceId, email);
  return contact?.status === "UNSUBSCRIBED" ? contact : null;
}

/** The email whose link was used, if it still exists. */
async function findOrigin(q: Tx, { workspaceId, emailId }: Subscriber) {
  return emailId === undefined ? null : ((await findEmail(q, workspaceId, emailId))?.email ?? null);
}

/** Records the event of the email whose link was used, if it still exists. Returns that email and its campaign. */
async function recordUnsubscribed(
  tx: Tx,
  deps: UnsubscribeDeps,
  subscriber: Subscriber,
  data: Record<string, unknown>,
): Promise<{ readonly emailId: HeldEmailId; readonly campaignId: string | null; readonly contactId: string | null } | null> {
  const email = await findOrigin(tx, subscriber);
  if (!email) return null;
  const { workspaceId, contactId, campaignId } = email;
  const emailId = await holdEmail(tx, email);
  await recordEvents(tx, deps, [{ workspaceId, type: "email.unsubscribed", emailId, contactId, campaignId, at: deps.clock.now(), data }]);
  return { emailId, campaignId, contactId };
}
