import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Mailsvc } from "@mailsvc/sdk";
import { AGENT_SCOPES, type AgentScope } from "@mailsvc/sdk/contract";
import { toSlug } from "../agent-init/slug.ts";
import { searchDevServer } from "../runtime/dev-server-file.ts";
import { CliError, hasStatus, usageError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import type { Host } from "../types.ts";
import { readEnvFile, writeEnvFile } from "./env-file.ts";

/** The marketplace on this machine: the dev server, its builder and its brand. */
export interface DevMarketplace {
  readonly url: string;
  readonly builder: Mailsvc;
  readonly brand: Mailsvc;
}

/** Scopes of a first listing whose agent names none: enough to work on runs and to talk with the brand. */
const USUAL_SCOPES: readonly AgentScope[] = ["agent:read_runs", "agent:write_runs", "agent:read_messages", "agent:post_messages"];

interface AgentDevOptions {
  slug: string;
  webhookUrl: string;
  /** The scopes the agent asks for; those of the listing, or USUAL_SCOPES, when absent. */
  scopes: readonly AgentScope[] | undefined;
  envPath: string;
  /** Makes a master key, if `.env` has none. */
  masterKey: () => string;
}

/** Result of the setup, including the parts that are new. */
export interface AgentDevSetup {
  slug: string;
  webhookUrl: string;
  listing: "created" | "updated" | "found";
  paid: boolean;
  envFile: string;
  /** Names of the variables that were written. */
  variables: string[];
}

/**
 * Finds the dev server: that of the working folder or a folder above it, or the one that MAILSVC_URL, MAILSVC_API_KEY and
 * MAILSVC_BUILDER_API_KEY name, as `mailsvc dev -- COMMAND` sets them. Throws CliError that says how to start one.
 */
export async function openDevMarketplace(host: Host): Promise<DevMarketplace> {
  const { MAILSVC_URL: url, MAILSVC_API_KEY: brandKey, MAILSVC_BUILDER_API_KEY: builderKey } = host.env;
  const found = url && brandKey && builderKey ? { url, brandKey, builderKey } : readProfiles(host);
  if (!found)
    throw new CliError({
      code: "no_dev_server",
      message: "No dev server runs in this folder or above it.",
      exit: EXIT.usage,
      hint: "Start one in another terminal, in this folder: mailsvc dev",
      next: "mailsvc dev",
    });
  const { Mailsvc } = await import("@mailsvc/sdk");
  const open = (apiKey: string) => new Mailsvc({ baseUrl: found.url, apiKey, fetch: host.fetch, userAgent: `mailsvc-cli/${host.version}` });
  return { url: found.url, builder: open(found.builderKey), brand: open(found.brandKey) };
}

/** The slug of an agent by the name in its package.json, or that of the folder. Throws CliError when neither gives one. */
export function defaultSlug({ cwd }: Host): string {
  const slug = toSlug(readPackageName(cwd) ?? basename(cwd));
  if (slug === "") throw usageError("--slug is needed: the name of this folder has no letters.");
  return slug;
}

/**
 * Lists the agent, pays for the listing and writes the `.env` of the agent. An existing setup is kept: a listing only gets the webhook
 * URL and the scopes, and a secret is made anew only when the file has none.
 */
export async function setUpListing({ url, builder }: DevMarketplace, options: AgentDevOptions): Promise<AgentDevSetup> {
  const { slug, webhookUrl, envPath } = options;
  const known = readEnvFile(envPath);
  const existing = await orNull(builder.listings.get(slug));
  let secret = existing ? known["AGENT_WEBHOOK_SECRET"] : undefined;
  let listing: AgentDevSetup["listing"] = "found";
  if (!existing) {
    const permissions = [...(options.scopes ?? USUAL_SCOPES)];
    secret = (await builder.listings.create({ slug, name: slug, webhookUrl, permissions })).webhookSecret;
    listing = "created";
  } else {
    const scopes = options.scopes ?? existing.permissions;
    const same = existing.webhookUrl === webhookUrl && [...scopes].sort().join() === [...existing.permissions].sort().join();
    if (!same) {
      await builder.listings.update(slug, { webhookUrl, permissions: [...scopes] });
      listing = "updated";
    }
  }
  secret ||= (await builder.listings.rotateSecret(slug, { overlapSeconds: 0 })).webhookSecret;
  const paid = existing?.state !== "LISTED";
  // The file first: after a crash in between, the next start has the secret.
  const variables = writeEnvFile(envPath, {
    AGENT_WEBHOOK_SECRET: secret,
    MAILSVC_URL: url,
    AGENT_MASTER_KEY: known["AGENT_MASTER_KEY"] || options.masterKey(),
  });
  if (paid) await builder.payments.confirm((await builder.listings.checkout(slug)).id);
  return { slug, webhookUrl, listing, paid, envFile: envPath, variables };
}

/**
 * Turns the agent on for the brand, or finds it on; `fresh` turns it off first, so that the agent gets another key. An
 * `agent.activated` that has not arrived is sent again, and scopes that the listing asks for besides are accepted.
 */
export async function activate(
  { builder, brand }: DevMarketplace,
  slug: string,
  fresh: boolean,
): Promise<{ id: string; isNew: boolean; status: string }> {
  const open = (await brand.activations.list({ agentSlug: slug }).toArray()).find(({ status }) => status !== "deactivated");
  if (open && !fresh) {
    const { data } = await builder.deliveries.list(slug, { type: "agent.activated", activationId: open.id });
    const [event] = data;
    if (event && event.state !== "delivered" && event.state !== "cancelled") await builder.deliveries.redeliver(slug, event.id);
    // The brand of a dev server accepts what its own developer has just asked for.
    if (open.update !== null) await brand.activations.accept(open.id, { version: open.update.version });
    return { id: open.id, isNew: false, status: open.status };
  }
  if (open) await brand.activations.deactivate(open.id);
  const { permissions } = await brand.catalog.get(slug);
  const created = await brand.activations.create({ agentSlug: slug, acceptedPermissions: permissions.map(({ scope }) => scope) });
  return { id: created.id, isNew: true, status: created.status };
}

function readProfiles(host: Host): { url: string; brandKey: string; builderKey: string } | null {
  const { found: dev } = searchDevServer(host);
  const [brandKey, builderKey] = [dev?.profiles["brand"]?.apiKey, dev?.profiles["builder"]?.apiKey];
  return dev && brandKey && builderKey ? { url: dev.url, brandKey, builderKey } : null;
}

/** The scopes that the agent of this folder asks for, by its package.json; undefined without. Throws CliError for one that there is not. */
export function readScopes({ cwd }: Host): AgentScope[] | undefined {
  const { mailsvc } = readPackage(cwd);
  const scopes = typeof mailsvc === "object" && mailsvc !== null ? (mailsvc as { scopes?: unknown }).scopes : undefined;
  if (scopes === undefined) return undefined;
  const unknown = Array.isArray(scopes) ? scopes.find((scope) => !(AGENT_SCOPES as readonly unknown[]).includes(scope)) : scopes;
  if (!Array.isArray(scopes) || unknown !== undefined)
    throw usageError(`mailsvc.scopes in package.json: ${JSON.stringify(unknown)} is no list of scopes, or no scope.`, {
      hint: `There are: ${AGENT_SCOPES.join(", ")}.`,
    });
  return scopes as AgentScope[];
}

function readPackageName(cwd: string): string | null {
  const { name } = readPackage(cwd);
  return typeof name === "string" && name !== "" ? name : null;
}

function readPackage(cwd: string): { name?: unknown; mailsvc?: unknown } {
  try {
    const found: unknown = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8"));
    return typeof found === "object" && found !== null ? found : {};
  } catch {
    // No package.json, or none that can be read.
    return {};
  }
}

async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (hasStatus(error, 404)) return null;
    throw error;
  }
}
