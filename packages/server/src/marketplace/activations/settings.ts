import { type Activation, listSettingFaults, type Settings } from "@mailsvc/sdk/contract";
import { and, eq, lt } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import { ApiError } from "../../lib/api-error.ts";
import { isSameJson } from "../../lib/json.ts";
import type { ListingRow } from "../listings/listings.ts";
import type { ActivationDeps } from "./activations.ts";
import { acceptAll, askedScopes, grantedScopes, isKept, settingsOf } from "./granted.ts";
import { showActivation } from "./show.ts";
import { type Activated, assertNotEnded, getActivation, lockActivation } from "./store.ts";

interface Change {
  /** Credits it may use in a month; null for no limit. */
  readonly creditLimit?: number | null | undefined;
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}

/** Changes what is given, and tells the agent its settings if they differ. Throws ApiError not_found, invalid_state or validation_error. */
export async function changeActivation(tx: Tx, deps: ActivationDeps, workspaceId: string, id: string, change: Change): Promise<Activation> {
  const now = deps.clock.now();
  await lockActivation(tx, id);
  const found = await getActivation(tx, workspaceId, id);
  assertNotEnded(found, now);
  const { creditLimit = found.activation.creditLimit } = change;
  const settings = change.settings === undefined ? found.activation.settings : readSettings(found.listing, change.settings);
  await tx.update(tx.t.activations).set({ creditLimit, settings }).where(eq(tx.t.activations.id, id));
  const activation = { ...found.activation, creditLimit, settings };
  const [before, after] = [settingsOf(found.activation, found.listing), settingsOf(activation, found.listing)];
  if (!isSameJson(before, after)) await deps.activationHooks.settingsChanged(tx, id, after, now);
  return showActivation({ ...found, activation }, now);
}

/** The values that a brand has filled in. Throws ApiError validation_error, which names each that does not fit the listing. */
export function readSettings({ settingsSchema }: ListingRow, values: Readonly<Record<string, unknown>>): Settings {
  const faults = listSettingFaults(settingsSchema, values);
  const [first] = faults;
  if (first === undefined) return values as Settings;
  throw new ApiError("validation_error", `settings.${first.name}: ${first.message}`, {
    details: faults.map(({ name, code, message }) => ({ path: `settings.${name}`, code, message })),
    hint: "The catalog shows the settings of an agent: mailsvc catalog get",
  });
}

/** Grants what this version of the listing asks for. Throws ApiError not_found or invalid_state. */
export async function acceptVersion(tx: Tx, deps: ActivationDeps, workspaceId: string, id: string, version: number): Promise<Activation> {
  const { activations: a } = tx.t;
  const now = deps.clock.now();
  await lockActivation(tx, id);
  const found = await getActivation(tx, workspaceId, id);
  assertAsked(found, version, now);
  // The version and its scopes are of one row, so a change of the listing at the same moment grants nothing that was not named.
  const set = acceptAll(found.listing);
  await tx
    .update(a)
    .set(set)
    .where(and(eq(a.id, id), lt(a.acceptedVersion, version)));
  const accepted = { ...found, activation: { ...found.activation, ...set } };
  const before = grantedScopes(found.activation, found.listing);
  const scopes = grantedScopes(accepted.activation, found.listing);
  const added = scopes.filter((scope) => !before.includes(scope));
  if (added.length > 0) await deps.activationHooks.scopesChanged(tx, id, { scopes, added, at: now });
  return showActivation(accepted, now);
}

/** Keeps what was accepted before this version. Throws ApiError not_found or invalid_state. */
export async function keepVersion(tx: Tx, deps: ActivationDeps, workspaceId: string, id: string, version: number): Promise<Activation> {
  const { activations: a } = tx.t;
  const now = deps.clock.now();
  await lockActivation(tx, id);
  const found = await getActivation(tx, workspaceId, id);
  assertAsked(found, version, now);
  if (askedScopes(found).length === 0 || isKept(found)) return showActivation(found, now);
  const set = { keptVersion: version, keptAt: now };
  await tx.update(a).set(set).where(eq(a.id, id));
  return showActivation({ ...found, activation: { ...found.activation, ...set } }, now);
}

function assertAsked(found: Activated, version: number, now: number): void {
  assertNotEnded(found, now);
  const { version: current, slug } = found.listing;
  if (version === current) return;
  throw new ApiError("invalid_state", `The agent ${slug} asks for something else by now: its version is ${current}, not ${version}.`, {
    details: [{ path: "version", code: "version_changed", message: String(current) }],
    hint: `Read what it asks for now: mailsvc activations get ${found.activation.id}`,
  });
}
