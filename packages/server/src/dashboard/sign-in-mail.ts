import { EmailAddress } from "@mailsvc/sdk/contract";
import * as z from "zod";
import type { PageRequest, PageResponse, PublicPage } from "../http/public/public-pages.ts";
import { ApiError } from "../lib/api-error.ts";
import { toNetwork } from "../lib/ip-network.ts";
import type { Limiter, Rate } from "../lib/rate.ts";
import { assertSameOrigin } from "./cookie.ts";
import type { DashboardDeps } from "./deps.ts";
import { json, readBody, toBrowser } from "./json-page.ts";
import { describeMailedLink } from "./links.ts";
import { reachesPeople, requestLink } from "./member-mail.ts";
import { countingFailures, type SignInParts } from "./sign-in.ts";

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
export function signInMailPages({ deps }: SignInParts, limiter: Limiter): readonly PublicPage[] {
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
