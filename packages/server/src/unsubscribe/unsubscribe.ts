import { findContactByEmail } from "../contacts/contacts.ts";
import type { ContactDeps } from "../contacts/deps.ts";
import { escapeHtml } from "../html/escape.ts";
import { type PageBrand, type RenderedPage, renderMessage, renderName, renderSender, toPrivateResponse } from "../html/page.ts";
import { chooseTexts, readWishes, type Texts } from "../html/texts.ts";
import type { PageResponse, PublicPage } from "../http/public/public-pages.ts";
import type { Seal } from "../lib/seal.ts";
import { getPageBrand } from "../workspaces/workspaces.ts";
import {
  canResubscribe,
  chooseLanguage,
  hasUnsubscribed,
  isUnsubscribed,
  leaveLists,
  resubscribe,
  type SubscriberList,
  type SubscriberLists,
  unsubscribe,
} from "./apply.ts";
import { openToken, type Subscriber } from "./link.ts";

export { type SubscriberLists, unsubscribe } from "./apply.ts";
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
