import type { Deps } from "../deps.ts";
import type { Page } from "../http/pages.ts";
import { findMail } from "../inbox/inbox.ts";
import { attachmentAt, mailHtml, mailPolicy, saveAs } from "./mail-view.ts";
import { inboxPage, pagePolicy } from "./page.ts";

/** The pages of dev mode: the inbox at `/` and `/dashboard`, and what it shows of a mail. */
export const dashboardPages = (deps: Deps, apiKey: string | null): readonly Page[] => {
  const parsed = async (id = "") => {
    const { default: PostalMime } = await import("postal-mime");
    return PostalMime.parse((await findMail(deps.db.read, id)).raw);
  };
  const preview = apiKey === null ? "" : `${apiKey.slice(0, 10)}…${apiKey.slice(-4)}`;
  const html = inboxPage({ mailer: deps.mailer.name, version: deps.version, keyPreview: preview });
  const inbox: Page["serve"] = async () => ({
    type: "text/html; charset=utf-8",
    body: html,
    headers: [["content-security-policy", pagePolicy()]],
  });
  return [
    { path: "/", serve: inbox },
    { path: "/dashboard", serve: inbox },
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
};
