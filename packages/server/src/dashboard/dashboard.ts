import { EmailAddress } from "@mailsvc/sdk/contract";
import * as z from "zod";
import type { PageRequest, PageResponse, PublicPage } from "../http/public/public-pages.ts";
import { ApiError } from "../lib/api-error.ts";
import { toNetwork } from "../lib/ip-network.ts";
import type { Limiter, Rate } from "../lib/rate.ts";
import { assertSameOrigin } from "./cookie.ts";
import type { DashboardDeps } from "./deps.ts";
import { canvasPage, type FrameParts, framePages } from "./frame.ts";
import { json, readBody, toBrowser } from "./json-page.ts";
import { describeMailedLink } from "./links.ts";
import { reachesPeople, requestLink } from "./member-mail.ts";
import { providerPages } from "./provider.ts";
import { countingFailures, type SignInParts, signInPages } from "./sign-in.ts";

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

// Of one network, and of all: mail that people ask for by hand. What one member gets is limited besides.
const ASKS: Rate = { perSecond: 0.1, burst: 10 };
const ALL_ASKS: Rate = { perSecond: 2, burst: 60 };

const buildAsk = () => z.strictObject({ email: EmailAddress });
const buildLook = () => z.strictObject({ token: z.string().max(100) });

/** Ways to sign in besides a link of an owner and an API key. */
interface SignInOptions {
  /** True if the server mails links to members. */
  readonly mail: boolean;
  /** The host of the provider of OpenID Connect; null without one. */
  readonly provider: string | null;
}

/** Signing in by mail. What it answers is the same for members and for strangers. */
function signInMailPages({ deps }: SignInParts, limiter: Limiter): readonly PublicPage[] {
  return [
    { path: "/dashboard/sign-in-options", methods: ["GET"], errors: "json", serve: async () => json(await listOptions(deps)) },
    { path: "/dashboard/sign-in-mail", methods: ["POST"], whenFull: true, errors: "json", serve: (request) => ask(deps, limiter, request) },
    { path: "/dashboard/mailed-link", methods: ["POST"], whenFull: true, errors: "json", serve: (request) => look(deps, request) },
  ];
}

async function listOptions(deps: DashboardDeps): Promise<SignInOptions> {
  const { oidc } = deps.config;
  return { mail: await reachesPeople(deps.db.read, deps), provider: oidc === null ? null : new URL(oidc.issuer).host };
}

/** Plans a mail with a link, if the address is that of a member: whether it is, the answer and the time that it takes do not tell. */
async function ask(deps: DashboardDeps, limiter: Limiter, request: PageRequest): Promise<PageResponse> {
  assertSameOrigin(toBrowser(request).headers, deps.baseUrl());
  const { email } = await readBody(request, buildAsk());
  await take(limiter, `sign-in-mail:${toNetwork(request.address)}`, ASKS);
  await take(limiter, "sign-in-mail", ALL_ASKS);
  await requestLink(deps, email);
  return json({ sent: true });
}

/** Tells whom a mailed link signs in, so that a person sees it before they press the button. The link stays unused. */
async function look(deps: DashboardDeps, request: PageRequest): Promise<PageResponse> {
  const browser = toBrowser(request);
  assertSameOrigin(browser.headers, deps.baseUrl());
  const { token } = await readBody(request, buildLook());
  return json(await countingFailures(deps, browser, () => describeMailedLink(deps.db.read, deps, token)));
}

/** Throws ApiError rate_limited. */
async function take(limiter: Limiter, name: string, rate: Rate): Promise<void> {
  const { allowed, reset } = await limiter.take(name, rate);
  if (allowed) return;
  throw new ApiError("rate_limited", "Too many links were asked for.", {
    hint: `Wait for ${reset} seconds.`,
    headers: { "retry-after": String(reset) },
  });
}
