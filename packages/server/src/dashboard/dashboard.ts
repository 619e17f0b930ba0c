import type { Deps } from "../deps.ts";
import type { DevPage, DevPageResponse } from "../http/public/dev-pages.ts";
import { getMail } from "../inbox/inbox.ts";
import type { Installation } from "../installation/installation.ts";
import { getSentEvent, listSentEvents } from "../marketplace/marketplace.ts";
import { attachmentAt, mailHtml, mailPolicy, saveAs } from "./mail-view.ts";
import { inboxPage, pagePolicy } from "./page.ts";

// As many events as somebody scrolls through; older ones are in `mailsvc deliveries list`.
const SHOWN = 200;

/**
 * The pages of dev mode: the inbox and the webhooks of all workspaces at `/` and `/dashboard`, what is shown of a mail, and
 * the events that are read for it. They need no key, as `/__dev` needs none.
 */
export function dashboardPages(deps: Deps, { apiKey }: Installation): readonly DevPage[] {
  const parsed = async (id = "") => {
    const { default: PostalMime } = await import("postal-mime");
    return PostalMime.parse((await getMail(deps.db.read, id)).raw);
  };
  const preview = apiKey === null ? "" : `${apiKey.slice(0, 10)}…${apiKey.slice(-4)}`;
  const html = inboxPage({ mailer: deps.mailer.name, version: deps.version, keyPreview: preview });
  const inbox: DevPage["serve"] = async () => ({
    type: "text/html; charset=utf-8",
    body: html,
    headers: [["content-security-policy", pagePolicy()]],
  });
  return [
    { path: "/", serve: inbox },
    { path: "/dashboard", serve: inbox },
    { path: "/dashboard/events", serve: async () => json({ data: await listSentEvents(deps.db.read, SHOWN) }) },
    {
      path: "/dashboard/events/:slug/:id",
      serve: async ({ slug = "", id = "" }) => json(await getSentEvent(deps.db.read, slug, id)),
    },
    {
      path: "/dashboard/mail/:id",
      serve: async ({ id }, query) => ({
        type: "text/html; charset=utf-8",
        body: mailHtml(await parsed(id)),
        headers: [["content-security-policy", mailPolicy(query.get("remote") === "1")]],
      }),
    },
    {
      path: "/dashboard/mail/:id/attachments/:place",
      serve: async ({ id, place = "" }) => {
        const { filename, bytes } = attachmentAt(await parsed(id), place);
        return {
          type: "application/octet-stream",
          body: bytes,
          headers: [
            ["content-disposition", saveAs(filename)],
            ["content-security-policy", "sandbox; default-src 'none'"],
          ],
        };
      },
    },
  ];
}

function json(value: unknown): DevPageResponse {
  return {
    type: "application/json; charset=utf-8",
    body: JSON.stringify(value),
    headers: [["content-security-policy", "sandbox; default-src 'none'"]],
  };
}
