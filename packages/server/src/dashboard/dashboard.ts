import type { PublicPage } from "../http/public/public-pages.ts";
import type { Limiter } from "../lib/rate.ts";
import { canvasPage, type FrameParts, framePages } from "./frame.ts";
import { providerPages } from "./provider.ts";
import { type SignInParts, signInPages } from "./sign-in.ts";
import { signInMailPages } from "./sign-in-mail.ts";

export { BrowserAccess } from "./access.ts";
export { loadBuiltFiles } from "./built-files.ts";
export { type BuiltFiles, DashboardFiles } from "./files.ts";
export type { DraftSources } from "./frame.ts";
export { createOwnerLink, SIGN_IN_PATH } from "./links.ts";
export { buildMailPolicy, renderMailHtml } from "./mail-view.ts";
export { findRequested, LINK_REQUEST_JOB, MEMBER_MAIL_JOB, mailMember } from "./member-mail.ts";
export { SessionWatch } from "./sessions.ts";

const ICON =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='7' fill='#3457d5'/><path d='M7 11l9 7 9-7v11H7z' fill='none' stroke='white' stroke-width='2.2' stroke-linejoin='round'/><path d='M7 11h18' stroke='white' stroke-width='2.2' stroke-linecap='round'/></svg>";

/** The pages of the dashboard: its files, signing in and out, mail in frames, and the way to it from the address of the server alone. */
export function signedInPages(parts: SignInParts & FrameParts, limiter: Limiter): readonly PublicPage[] {
  const signingIn = [...signInPages(parts), ...signInMailPages(parts, limiter), ...providerPages(parts, parts.deps.log)];
  const pages = [home, install, ...signingIn, ...framePages(parts), canvasPage(parts.deps), ...parts.deps.dashboardFiles.pages()];
  return pages.map((page) => ({ errors: "developer", ...page }));
}

const home: PublicPage = {
  path: "/",
  methods: ["GET"],
  serve: async () => ({
    status: 302,
    headers: [
      ["location", "/dashboard"],
      ["cache-control", "no-store"],
    ],
    body: null,
  }),
};

/** The address of an install link: the page of the dashboard that asks for consent, with the two fields that it reads. */
const install: PublicPage = {
  path: "/install/:slug",
  methods: ["GET"],
  serve: async ({ params, query }) => {
    const fields = new URLSearchParams();
    for (const name of ["state", "redirect"]) {
      const value = query.get(name);
      if (value !== null) fields.set(name, value);
    }
    return {
      status: 302,
      headers: [
        ["location", `/dashboard/install/${encodeURIComponent(params["slug"] ?? "")}?${fields}`],
        ["cache-control", "no-store"],
      ],
      body: null,
    };
  },
};

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
