import { escapeHtml } from "../html/escape.ts";
import { type PageBrand, type RenderedPage, renderMessage, renderName, toPrivateResponse } from "../html/page.ts";
import type { PageResponse, PublicPage } from "../http/public/public-pages.ts";
import { getPageBrand } from "../workspaces/workspaces.ts";
import {
  canResubscribe,
  hasUnsubscribed,
  isUnsubscribed,
  leaveLists,
  resubscribe,
  type SubscriberList,
  type SubscriberLists,
  unsubscribe,
} from "./apply.ts";
import type { UnsubscribeDeps } from "./deps.ts";
import { openToken, type Subscriber } from "./link.ts";

// A form with a few hundred lists.
const FORM_BYTES = 64 * 1024;
// To the address of this page itself.
const CHANGE = `<p><a href="">Change something else</a></p>`;

/**
 * The page behind the links. Opening it changes nothing, because mail scanners open links. Its form and the one click of a
 * mail program (RFC 8058 3.1) send a POST: with `action=save` the person leaves the lists that are not ticked, with `action=again`
 * one who unsubscribed is subscribed again; every other POST unsubscribes from all marketing mail, so that no mail program's way to
 * say it is lost.
 */
export function unsubscribePages(deps: UnsubscribeDeps, lists: SubscriberLists): readonly PublicPage[] {
  const { read } = deps.db;
  const done = async (brand: PageBrand, subscriber: Subscriber): Promise<PageResponse> =>
    toPrivateResponse(renderDone(brand, subscriber, await canResubscribe(read, subscriber)));
  return [
    {
      path: "/unsubscribe/:token",
      methods: ["GET", "POST"],
      whenFull: true,
      serve: async ({ method, params, body }) => {
        const subscriber = openToken(deps, params.token ?? "");
        const brand = await getPageBrand(read, subscriber.workspaceId);
        if (method !== "POST") {
          if (await hasUnsubscribed(read, subscriber)) return done(brand, subscriber);
          return toPrivateResponse(renderChoice(brand, subscriber, await lists.find(read, subscriber)));
        }
        const form = new URLSearchParams(Buffer.from(await body(FORM_BYTES)).toString("utf8"));
        const action = form.get("action");
        if (action === "again") {
          await deps.db.tx((tx) => resubscribe(tx, deps, subscriber));
          if (await isUnsubscribed(read, subscriber)) return done(brand, subscriber);
          return toPrivateResponse(renderAgain(brand, subscriber));
        }
        if (action !== "save") {
          await deps.db.tx((tx) => unsubscribe(tx, deps, subscriber, action === null ? "one-click" : "page"));
          return done(brand, subscriber);
        }
        const kept = new Set(form.getAll("list"));
        const shown = new Set(form.getAll("shown"));
        await deps.db.tx((tx) => leaveLists(tx, deps, subscriber, lists, ({ id }) => shown.has(id) && !kept.has(id)));
        return toPrivateResponse(renderSaved(brand, subscriber, await lists.find(read, subscriber)));
      },
    },
  ];
}

function renderChoice(brand: PageBrand, { email }: Subscriber, lists: readonly SubscriberList[]): RenderedPage {
  const [name, address] = [renderName(brand.name), renderName(email)];
  if (lists.length === 0)
    return renderMessage(
      "Unsubscribe",
      `<p>Stop marketing email from ${name} to ${address}?</p><form method="post"><button name="action" value="all">Unsubscribe</button></form>`,
      brand,
    );
  const choices = lists
    .map(
      ({ id, name }) =>
        `<p><label><input type="checkbox" name="list" value="${escapeHtml(id)}" checked> <span><bdi>${escapeHtml(name)}</bdi></span></label><input type="hidden" name="shown" value="${escapeHtml(id)}"></p>`,
    )
    .join("");
  return renderMessage(
    "Email preferences",
    `<p>Choose what ${address} receives from ${name}.</p>
<form method="post" class="choices" aria-label="Lists">${choices}<p><button name="action" value="save">Save preferences</button></p></form>
<form method="post"><p>Or stop all marketing email from ${name}.</p><button class="plain" name="action" value="all">Unsubscribe from all</button></form>`,
    brand,
  );
}

function renderDone(brand: PageBrand, { email }: Subscriber, undoable: boolean): RenderedPage {
  const again = `<form method="post"><p>Was that a mistake?</p><button class="plain" name="action" value="again">Subscribe again</button></form>`;
  return renderMessage(
    "You're unsubscribed",
    `<p>${renderName(email)} will no longer receive marketing email from ${renderName(brand.name)}.</p>${undoable ? again : ""}`,
    brand,
  );
}

function renderAgain(brand: PageBrand, { email }: Subscriber): RenderedPage {
  return renderMessage(
    "You're subscribed again",
    `<p>${renderName(email)} receives marketing email from ${renderName(brand.name)} again.</p>${CHANGE}`,
    brand,
  );
}

function renderSaved(brand: PageBrand, { email }: Subscriber, lists: readonly SubscriberList[]): RenderedPage {
  const address = renderName(email);
  const rest = lists.map(({ name }) => `<li><bdi>${escapeHtml(name)}</bdi></li>`).join("");
  return renderMessage(
    "Your preferences are saved",
    rest === "" ? `<p>${address} is on none of these lists any more.</p>` : `<p>${address} is on:</p><ul>${rest}</ul>${CHANGE}`,
    brand,
  );
}
