import { RECIPIENT_TEXTS } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import type { PendingMail } from "../delivery/delivery.ts";
import { findEmail } from "../emails/emails.ts";
import { escapeHtml } from "../html/escape.ts";
import { toPrivateResponse } from "../html/page.ts";
import type { PageResponse, PublicPage } from "../http/public/public-pages.ts";
import { ApiError, brokenLink } from "../lib/api-error.ts";
import { SealBroken } from "../lib/seal.ts";
import { VIEW_URL } from "../templates/templates.ts";
import { addUnsubscribe } from "../unsubscribe/unsubscribe.ts";
import type { ViewDeps } from "./campaigns.ts";
import { renderAgain } from "./render.ts";

const PURPOSE = "link:view";

// A token holds two ids.
const MAX_TOKEN = 500;

// The mail is the work of somebody else: no scripts, no forms, no frames, and its own origin.
const POLICY =
  "default-src 'none'; img-src * data:; media-src *; font-src * data:; style-src * 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-popups allow-popups-to-escape-sandbox";

type LinkDeps = Pick<ViewDeps, "seal" | "baseUrl">;

/** The parts of a mail that its browser view shows. */
type ViewedMail = Pick<PendingMail, "email" | "html" | "text">;

/** Puts the link to its own page into each mail with `{{viewInBrowserUrl}}`. The same mail gets the same link at every attempt. */
export async function addViewLinks(deps: LinkDeps, mails: readonly ViewedMail[]): Promise<void> {
  for (const mail of mails) {
    const { html, text, email } = mail;
    if (!html?.includes(VIEW_URL) && !text?.includes(VIEW_URL)) continue;
    const url = makeViewUrl(deps, email);
    if (html !== null) mail.html = html.replaceAll(VIEW_URL, url);
    if (text !== null) mail.text = text.replaceAll(VIEW_URL, url);
  }
}

/**
 * The page that shows a mail as its recipient got it, with the contact's present fields. It exists as long as the email, and of a campaign
 * as long as its contact. Looking at it counts as nothing: no links are tracked.
 */
export function viewPages(deps: ViewDeps): readonly PublicPage[] {
  const { read } = deps.db;
  return [
    {
      path: "/view/:token",
      methods: ["GET"],
      serve: async ({ params }) => {
        const mail = await findMail(read, deps, openToken(deps, params.token ?? ""));
        if (mail === null) throw new ApiError("not_found", RECIPIENT_TEXTS.mailText, { page: { title: "mailTitle", text: "mailText" } });
        return show(mail);
      },
    },
  ];
}

function makeViewUrl({ seal, baseUrl }: LinkDeps, { workspaceId, id }: Pick<PendingMail["email"], "workspaceId" | "id">): string {
  return `${baseUrl()}/view/${Buffer.from(seal.sealSame(`${workspaceId} ${id}`, PURPOSE)).toString("base64url")}`;
}

/** Throws ApiError not_found for a token that was not made by this server. */
function openToken({ seal }: LinkDeps, token: string): { workspaceId: string; id: string } {
  try {
    const [workspaceId = "", id = ""] = seal.open(Buffer.from(token.slice(0, MAX_TOKEN), "base64url"), PURPOSE).split(" ");
    return { workspaceId, id };
  } catch (error) {
    if (error instanceof SealBroken) throw brokenLink("linkIncomplete");
    throw error;
  }
}

/** A mail that was handed over, as it is shown; null if there is none. */
async function findMail(
  read: Reader,
  deps: ViewDeps,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<ViewedMail | null> {
  const found = await findEmail(read, workspaceId, id);
  if (!found) return null;
  const { email, contents } = found;
  // While it is being handed over it may already have arrived.
  if (email.sentAt === null && email.status !== "sending") return null;
  const { html, text } = contents;
  const again = email.campaignId === null ? { mail: { html, text }, language: null } : await renderAgain(read, deps, email);
  if (again === null) return null;
  const mail = { email, contents, headers: {}, ...again.mail, language: again.language };
  await addUnsubscribe(read, deps, [mail]);
  await addViewLinks(deps, [mail]);
  return mail;
}

function show({ html, text }: ViewedMail): PageResponse {
  const plain = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><pre style="white-space:pre-wrap;font:16px/1.5 system-ui,sans-serif;max-width:40em;margin:32px auto;padding:0 16px">${escapeHtml(text ?? "")}</pre>`;
  return toPrivateResponse({ html: html ?? plain, policy: POLICY });
}
