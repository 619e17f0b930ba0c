import type { ContractCalls } from "../http/contract-calls.ts";
import type { Dialect, DialectLoaders } from "../http/dialect.ts";
import type { PublicPage } from "../http/public/public-pages.ts";
import type { DialectDeps } from "./deps.ts";

type Create = (deps: DialectDeps, contract: ContractCalls, devKey: string | null) => Dialect;

// No start needs them, and most servers at most one.
const DIALECTS: Readonly<Record<Dialect["prefix"], () => Promise<Create>>> = {
  "/resend": async () => (await import("./resend/resend.ts")).createResend,
  "/sendgrid": async () => (await import("./sendgrid/sendgrid.ts")).createSendgrid,
  "/ses": async () => (await import("./ses/ses.ts")).createSes,
};

/** All dialects by the paths before them. `devKey` stands for any key of the other services; null outside of dev mode. */
export function listDialects(deps: DialectDeps, contract: ContractCalls, devKey: string | null): DialectLoaders {
  const loaders = Object.entries(DIALECTS) as [Dialect["prefix"], () => Promise<Create>][];
  return new Map(loaders.map(([prefix, load]) => [prefix, async () => (await load())(deps, contract, devKey)]));
}

/** The page behind a link to a file, which Resend's API gives. */
export function attachmentPage(deps: DialectDeps): PublicPage {
  return {
    path: "/resend/files/:token",
    methods: ["GET"],
    errors: "developer",
    serve: async ({ params: { token = "" } }) => (await import("./resend/download-links.ts")).serveFile(deps, token),
  };
}
