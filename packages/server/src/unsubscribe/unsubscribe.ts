import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { escapeHtml } from "../html/escape.ts";
import { type RenderedPage, renderMessage } from "../html/page.ts";
import type { PageResponse, PublicPage } from "../http/public/public-pages.ts";
import { ApiError } from "../lib/api-error.ts";
import { SealBroken } from "../lib/seal.ts";
import { getPageBrand } from "../marketplace/brand/brand.ts";
import { suppress } from "../suppressions/suppressions.ts";

type LinkDeps = Pick<Deps, "seal" | "baseUrl">;

/** Whom a link unsubscribes, and from whose mail. */
interface Subscriber {
  readonly workspaceId: string;
  readonly email: string;
}

const PURPOSE = "link:unsubscribe";

// A token holds an id and an address of at most 254 characters.
const MAX_TOKEN = 1000;

/**
 * The link that unsubscribes an address from the marketing mail of a workspace. It does not expire, and works after the
 * contact was deleted. The address in it is encrypted and authenticated.
 */
export function makeUnsubscribeUrl({ seal, baseUrl }: LinkDeps, { workspaceId, email }: Subscriber): string {
  return `${baseUrl()}/unsubscribe/${Buffer.from(seal.seal(`${workspaceId} ${email}`, PURPOSE)).toString("base64url")}`;
}

/** Headers that let mail programs unsubscribe with one click (RFC 2369, RFC 8058). */
export function makeUnsubscribeHeaders(url: string): Record<string, string> {
  return { "List-Unsubscribe": `<${url}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
}

/** Stops marketing mail to an address: it is suppressed, and its contact becomes UNSUBSCRIBED. Idempotent. */
export async function unsubscribe(tx: Tx, deps: Deps, { workspaceId, email }: Subscriber): Promise<void> {
  await suppress(tx, deps, workspaceId, { email, reason: "unsubscribe", scope: "marketing", source: "unsubscribe" });
}

/**
 * The page behind the links: opening it changes nothing, because mail scanners open links; its button and the one click of
 * a mail program (RFC 8058 3.1) send a POST, which unsubscribes.
 */
export function unsubscribePages(deps: Deps): readonly PublicPage[] {
  return [
    {
      path: "/unsubscribe/:token",
      methods: ["GET", "POST"],
      serve: async ({ method, params }) => {
        const subscriber = openToken(deps, params.token ?? "");
        const brand = await getPageBrand(deps.db.read, subscriber.workspaceId);
        const [email, name] = [escapeHtml(subscriber.email), escapeHtml(brand.name)];
        if (method !== "POST")
          return toResponse(
            renderMessage(
              "Unsubscribe",
              `<p>Stop marketing email from <b>${name}</b> to <b>${email}</b>?</p><form method="post"><button>Unsubscribe</button></form>`,
              brand,
            ),
          );
        await deps.db.tx((tx) => unsubscribe(tx, deps, subscriber));
        return toResponse(
          renderMessage("You're unsubscribed", `<p><b>${email}</b> will no longer receive marketing email from <b>${name}</b>.</p>`, brand),
        );
      },
    },
  ];
}

/** Throws ApiError not_found for a token that was not made by this server. */
function openToken({ seal }: LinkDeps, token: string): Subscriber {
  const sealed = Buffer.from(token.slice(0, MAX_TOKEN), "base64url");
  try {
    const [workspaceId = "", ...email] = seal.open(sealed, PURPOSE).split(" ");
    return { workspaceId, email: email.join(" ") };
  } catch (error) {
    if (error instanceof SealBroken) throw new ApiError("not_found", "This link is invalid. Please copy it completely.");
    throw error;
  }
}

function toResponse({ html, policy }: RenderedPage): PageResponse {
  return {
    status: 200,
    headers: [
      ["content-type", "text/html; charset=utf-8"],
      ["content-security-policy", policy],
      ["cache-control", "no-store"],
      ["x-robots-tag", "noindex"],
    ],
    body: html,
  };
}
