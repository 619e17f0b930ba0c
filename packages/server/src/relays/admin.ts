import { type contract, DEFAULT_RELAY, RELAY_LIMITS, type Relay } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { Db, Tx } from "../db/db.ts";
import type { Handlers } from "../http/handler.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { type Clock, iso } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";
import type { Seal } from "../lib/seal.ts";
import { dkimSigner } from "../mail/dkim.ts";
import { type KnownRelay, showRelay } from "./known-relay.ts";
import type { RelayRegistry } from "./registry.ts";
import { isNamingCampaign } from "./routes.ts";
import {
  assertSettings,
  joinSecrets,
  type OpenSettings,
  type RelaySettings,
  relaySecretsPlace,
  showSettings,
  splitSecrets,
  toDkimKeys,
} from "./settings.ts";
import { testRelay } from "./test-relay.ts";

type Changes = { readonly [Field in Exclude<keyof RelaySettings, "name">]?: RelaySettings[Field] | undefined };

/** Adds a relay. Throws ApiError conflict, limit_reached or validation_error. */
async function addRelay(tx: Tx, deps: RelayDeps, settings: RelaySettings): Promise<Relay> {
  const { relays: t } = tx.t;
  const { name } = settings;
  const [taken] = await tx.select({ name: t.name }).from(t).where(eq(t.name, name));
  const known = deps.relays.find(name);
  if (taken) throw new ApiError("conflict", `There is a relay ${name} already.`, { hint: `Change it: mailsvc relays update ${name}` });
  if (known && known.source !== "api") throw definedElsewhere(known);
  if ((await tx.$count(t)) >= RELAY_LIMITS.relays)
    throw new ApiError("limit_reached", `A server can have ${RELAY_LIMITS.relays} relays.`, {
      hint: "Remove one first: mailsvc relays list",
    });
  await assertUsable(tx, deps, settings);
  const at = deps.clock.now();
  const { open, secrets } = splitSecrets(settings);
  await tx
    .insert(t)
    .values({ name, settings: open, secrets: deps.seal.seal(secrets, relaySecretsPlace(name)), createdAt: at, updatedAt: at });
  tx.afterCommit(() => deps.relays.clear());
  return showStored(deps, settings);
}

/** Changes the fields of a relay that are given. Throws ApiError not_found, conflict or validation_error. */
async function updateRelay(tx: Tx, deps: RelayDeps, name: string, changes: Changes): Promise<Relay> {
  const { relays: t } = tx.t;
  const before = await getStored(tx, deps, name);
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  const settings: RelaySettings = { ...before, ...given, name };
  await assertUsable(tx, deps, settings);
  const { open, secrets } = splitSecrets(settings);
  const row = { settings: open, secrets: deps.seal.seal(secrets, relaySecretsPlace(name)), updatedAt: deps.clock.now() };
  await tx.update(t).set(row).where(eq(t.name, name));
  tx.afterCommit(() => deps.relays.clear());
  return showStored(deps, settings);
}

/** Removes a relay. Throws ApiError not_found, or conflict while something names it; outside dev mode also for the default one. */
async function removeRelay(tx: Tx, deps: RelayDeps, name: string): Promise<Relay> {
  const settings = await getStored(tx, deps, name);
  const known = deps.relays.find(name);
  if (known && known.source !== "api") {
    // A flag or file defines one of the same name: that one takes the mail, and the access tokens are its own.
    await tx.delete(tx.t.relays).where(eq(tx.t.relays.name, name));
    return showStored(deps, settings);
  }
  // Without this relay, its waiting mail and all new mail would be captured until another one is added.
  if (name === DEFAULT_RELAY && !deps.config.dev)
    throw new ApiError("conflict", `The relay ${name} takes all mail that names none, so it cannot be removed.`, {
      hint: `Change it: mailsvc relays update ${name}. Or stop the mail: mailsvc queue pause`,
    });
  const users = [...(await listUsers(tx, name)), ...(await listFallbacks(tx, deps, name))];
  if (users.length > 0)
    throw new ApiError(
      "conflict",
      `The relay ${name} is still named by ${users.slice(0, 5).join(", ")}${users.length > 5 ? " and others" : ""}.`,
      {
        hint: "Name another relay there first, or none.",
      },
    );
  await tx.delete(tx.t.relays).where(eq(tx.t.relays.name, name));
  await tx.delete(tx.t.relayTokens).where(eq(tx.t.relayTokens.relay, name));
  tx.afterCommit(() => deps.relays.clear());
  return showStored(deps, settings);
}

/** A relay of this server. Throws ApiError not_found. */
async function getRelay(deps: RelayDeps, name: string): Promise<KnownRelay> {
  await deps.relays.refresh(deps.db.read);
  const known = deps.relays.find(name);
  if (!known) throw noRelay(name);
  return known;
}

/** Throws ApiError validation_error for settings that no relay can have. */
async function assertUsable(tx: Tx, deps: RelayDeps, settings: RelaySettings): Promise<void> {
  assertSettings(settings);
  try {
    dkimSigner(toDkimKeys(settings, [], ""));
  } catch (error) {
    throw invalid("dkim", "invalid_key", (error as Error).message);
  }
  if (settings.workspaceId) {
    const [workspace] = await tx
      .select({ id: tx.t.workspaces.id })
      .from(tx.t.workspaces)
      .where(eq(tx.t.workspaces.id, settings.workspaceId));
    if (!workspace) throw invalid("workspaceId", "unknown_workspace", `There is no workspace ${settings.workspaceId}.`);
  }
  for (const name of settings.fallback ?? []) {
    const known = deps.relays.find(name);
    const [stored] = await tx.select({ settings: tx.t.relays.settings }).from(tx.t.relays).where(eq(tx.t.relays.name, name));
    const other = known && known.source !== "api" ? known : stored;
    if (!other) throw invalid("fallback", "unknown_relay", `There is no relay ${name}.`);
    const only = other.settings.workspaceId ?? null;
    if (only !== null && only !== settings.workspaceId)
      throw invalid("fallback", "not_open", `The relay ${name} is for the workspace ${only} only, so it cannot take over from this one.`);
  }
}

async function getStored(tx: Tx, deps: RelayDeps, name: string): Promise<RelaySettings> {
  const [row] = await tx.select().from(tx.t.relays).where(eq(tx.t.relays.name, name));
  if (row) return joinSecrets(row.settings, deps.seal.open(row.secrets, relaySecretsPlace(name)));
  const known = deps.relays.find(name);
  throw known && known.source !== "api" ? definedElsewhere(known) : noRelay(name);
}

/** Lists the objects that name a relay, for people. */
async function listUsers(tx: Tx, name: string): Promise<string[]> {
  const { workspaces: w, senders: s, campaigns: c } = tx.t;
  const [ofWorkspaces, ofSenders, ofCampaigns] = await Promise.all([
    tx.select({ id: w.id }).from(w).where(eq(w.relay, name)).limit(10),
    tx.select({ value: s.value }).from(s).where(eq(s.relay, name)).limit(10),
    tx
      .select({ id: c.id })
      .from(c)
      .where(and(isNamingCampaign(tx), eq(c.relay, name)))
      .limit(10),
  ]);
  return [
    ...ofWorkspaces.map(({ id }) => `the workspace ${id}`),
    ...ofSenders.map(({ value }) => `the sender ${value}`),
    ...ofCampaigns.map(({ id }) => `the campaign ${id}`),
  ];
}

async function listFallbacks(tx: Tx, deps: RelayDeps, name: string): Promise<string[]> {
  const stored = await tx.select({ name: tx.t.relays.name, settings: tx.t.relays.settings }).from(tx.t.relays);
  const given = deps.relays.list().filter(({ source }) => source !== "api");
  const all: { settings: Pick<OpenSettings, "name" | "fallback"> }[] = [...stored, ...given];
  return all.filter(({ settings }) => settings.fallback?.includes(name)).map(({ settings }) => `the relay ${settings.name} (fallback)`);
}

/** A relay as it is stored, before this process has connected to it. */
function showStored(deps: RelayDeps, settings: RelaySettings): Relay {
  const known = deps.relays.find(settings.name);
  if (known) return { ...showRelay(known), ...showSettings(settings) };
  return { ...showSettings(settings), source: "api", state: "up", reason: null, since: iso(deps.clock.now()), answeredAt: null };
}

function definedElsewhere({ settings: { name }, source }: KnownRelay): ApiError {
  const where = source === "file" ? "the file of --relays" : "--smtp-url";
  return new ApiError("conflict", `The relay ${name} is defined by ${where}.`, { hint: `Change it there, and start the server again.` });
}

function noRelay(name: string): ApiError {
  return new ApiError("not_found", `There is no relay ${JSON.stringify(name.slice(0, 100))}.`, { hint: "See: mailsvc relays list" });
}

export interface RelayDeps {
  readonly relays: RelayRegistry;
  readonly clock: Clock;
  readonly db: Db;
  readonly ids: Ids;
  readonly seal: Seal;
  readonly config: { readonly mailFrom: string; readonly dev: boolean };
}

export const relayHandlers: Handlers<typeof contract.relays, RelayDeps> = {
  list: async (_input, { read, deps }) => {
    await deps.relays.refresh(read);
    return { data: deps.relays.list().map(showRelay) };
  },
  get: async ({ name }, { deps }) => showRelay(await getRelay(deps, name)),
  add: (input, { tx, deps }) => addRelay(tx, deps, input),
  update: ({ name, ...changes }, { tx, deps }) => updateRelay(tx, deps, name, changes),
  remove: ({ name }, { tx, deps }) => removeRelay(tx, deps, name),
  test: {
    prepare: async ({ name, to, from }, { deps }) => testRelay(deps, await getRelay(deps, name), { to, from }),
    run: async (_input, _context, result) => result,
  },
};
