import { type Activation, AGENT_SCOPE_GRANTS, type AgentScope, effectiveSettings, type SettingValue } from "@mailsvc/sdk/contract";
import { iso } from "../../lib/clock.ts";
import type { ListingRow } from "../listings/listings.ts";
import type { ActivationRow } from "./lifecycle.ts";
import type { Activated } from "./store.ts";

/** The scopes that count now: those that were accepted, and that the listing has asked for without a break since then. */
export function grantedScopes(
  { scopes, acceptedVersion }: Pick<ActivationRow, "scopes" | "acceptedVersion">,
  { permissionsSince }: Pick<ListingRow, "permissionsSince">,
): AgentScope[] {
  return scopes.filter((scope) => (permissionsSince[scope] ?? Number.POSITIVE_INFINITY) <= acceptedVersion);
}

/** The fields of an activation whose brand accepts all that its listing asks for. */
export function acceptAll({
  permissions,
  version,
}: Pick<ListingRow, "permissions" | "version">): Pick<ActivationRow, "scopes" | "acceptedVersion" | "keptVersion" | "keptAt"> {
  return { scopes: permissions, acceptedVersion: version, keptVersion: null, keptAt: null };
}

/** The scopes that a newer version of the listing asks for besides, as the brand sees it. */
export function showUpdate(found: Activated): Activation["update"] {
  const scopes = askedScopes(found);
  if (found.activation.status === "deactivated" || scopes.length === 0) return null;
  const { keptAt } = found.activation;
  return {
    version: found.listing.version,
    scopes: scopes.map((scope) => ({ scope, grants: AGENT_SCOPE_GRANTS[scope] })),
    keptAt: isKept(found) && keptAt !== null ? iso(keptAt) : null,
  };
}

/** The settings that count now: what the brand has set as far as it fits the listing, and defaults. */
export function settingsOf(
  { settings }: Pick<ActivationRow, "settings">,
  { settingsSchema }: Pick<ListingRow, "settingsSchema">,
): Record<string, SettingValue> {
  return effectiveSettings(settingsSchema, settings);
}

/** The scopes that the listing asks for and that do not count. */
export function askedScopes({ activation, listing }: Activated): AgentScope[] {
  const granted = grantedScopes(activation, listing);
  return listing.permissions.filter((scope) => !granted.includes(scope));
}

/** True once the brand has decided against all that is asked for. */
export function isKept(found: Activated): boolean {
  const { keptVersion } = found.activation;
  return keptVersion !== null && askedScopes(found).every((scope) => (found.listing.permissionsSince[scope] ?? 0) <= keptVersion);
}
