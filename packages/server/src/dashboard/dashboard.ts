import { getEmail, listRecentEmails } from "../emails/emails.ts";
import type { DevPage, DevPageResponse } from "../http/public/dev-pages.ts";
import type { PublicPage } from "../http/public/public-pages.ts";
import { getMail } from "../inbox/inbox.ts";
import type { Installation } from "../installation/installation.ts";
import { getSentEvent, listSentEvents } from "../marketplace/marketplace.ts";
import type { DashboardDeps } from "./deps.ts";
import { framePages } from "./frame.ts";
import { buildContentDisposition, buildMailPolicy, getAttachment, renderMailHtml } from "./mail-view.ts";
import { buildPolicy, ICON, renderDevPage } from "./page.ts";
import { type SignInParts, signInPages } from "./sign-in.ts";

export { BrowserAccess } from "./access.ts";
export { loadBuiltFiles } from "./built-files.ts";
export { type BuiltFiles, DashboardFiles } from "./files.ts";
export { SessionWatch } from "./sessions.ts";

/** The pages of the dashboard: its files, signing in and out, and mail in frames. */
export function signedInPages(parts: SignInParts): readonly PublicPage[] {
  return [...signInPages(parts), ...framePages(parts), ...parts.deps.dashboardFiles.pages()];
}

export { buildMailPolicy, renderMailHtml } from "./mail-view.ts";

// Events and emails listed; older ones are in `mailsvc deliveries list` and `mailsvc emails list`.
const SHOWN = 200;

/** The icon that browsers ask for on every page. */
export const favicon: PublicPage = {
  path: "/favicon.ico",
  methods: ["GET"],
  serve: async () => ({
    status: 200,
    headers: [
      ["content-type", "image/svg+xml"],
      ["content-security-policy", "sandbox; default-src 'none'"],
      ["cache-control", "public, max-age=86400"],
    ],
    body: ICON,
  }),
};

/**
 * The pages of dev mode: the inbox, activity and webhooks of all workspaces at `/` and `/dashboard`, and what they load. Like
 * `/__dev`, they need no key.
 */
export function dashboardPages(deps: DashboardDeps, { apiKey }: Installation): readonly DevPage[] {
  const parseMail = async (id = "") => {
    const { default: PostalMime } = await import("postal-mime");
    return PostalMime.parse((await getMail(deps.db.read, id)).raw);
  };
  const preview = apiKey === null ? "" : `${apiKey.slice(0, 10)}…${apiKey.slice(-4)}`;
  const html = renderDevPage({ mailer: deps.mailer.name, version: deps.version, keyPreview: preview });
  const inbox: DevPage["serve"] = async () => ({
    type: "text/html; charset=utf-8",
    body: html,
    headers: [["content-security-policy", buildPolicy()]],
  });
  return [
    { path: "/", serve: inbox },
    { path: "/dashboard/emails", serve: async () => json({ data: await listRecentEmails(deps.db.read, SHOWN) }) },
    {
      path: "/dashboard/emails/:workspaceId/:id",
      serve: async ({ workspaceId = "", id = "" }) => json(await getEmail(deps.db.read, workspaceId, id)),
    },
    { path: "/dashboard/events", serve: async () => json({ data: await listSentEvents(deps.db.read, SHOWN) }) },
    {
      path: "/dashboard/events/:slug/:id",
      serve: async ({ slug = "", id = "" }) => json(await getSentEvent(deps.db.read, slug, id)),
    },
    {
      path: "/dashboard/mail/:id",
      serve: async ({ id }, query) => ({
        type: "text/html; charset=utf-8",
        body: renderMailHtml(await parseMail(id)),
        headers: [["content-security-policy", buildMailPolicy(query.get("remote") === "1")]],
      }),
    },
    {
      path: "/dashboard/mail/:id/attachments/:position",
      serve: async ({ id, position = "" }) => {
        const { filename, bytes } = getAttachment(await parseMail(id), position);
        return {
          type: "application/octet-stream",
          body: bytes,
          headers: [
            ["content-disposition", buildContentDisposition(filename)],
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
