import {
  DEFAULT_RELAY,
  type NewRelay,
  OAUTH_PROVIDERS,
  type OAuthProvider,
  RELAY_SECRETS,
  type Relay,
  type RelayTls,
  toDomain,
} from "@mailsvc/sdk/contract";
import { invalid } from "../lib/api-error.ts";
import type { TokenRequest } from "../mail/access-tokens.ts";
import type { DkimKey } from "../mail/dkim.ts";
import { isLoopback, type SmtpTarget } from "../mail/smtp-url.ts";

/** A relay as it was given, with its secrets. */
export type RelaySettings = NewRelay;

type SecretName = (typeof RELAY_SECRETS)[number];
type OpenKey = Omit<NonNullable<RelaySettings["dkim"]>[number], "privateKey">;

/** The settings without secrets, as they are stored. */
export type OpenSettings = Omit<RelaySettings, SecretName | "dkim"> & { readonly dkim?: readonly OpenKey[] | null };

interface Secrets extends Readonly<Pick<RelaySettings, SecretName>> {
  /** The private keys of `dkim`, in its order. */
  readonly privateKeys?: readonly string[];
}

/** Takes the secrets out of settings: what is stored as it is, and what is sealed. */
export function splitSecrets({ dkim, ...settings }: RelaySettings): { open: OpenSettings; secrets: string } {
  const open: Partial<typeof settings> = { ...settings };
  for (const name of RELAY_SECRETS) delete open[name];
  const privateKeys = dkim?.map(({ privateKey }) => privateKey);
  const secrets = { ...Object.fromEntries(RELAY_SECRETS.map((name) => [name, settings[name]])), ...(privateKeys && { privateKeys }) };
  return {
    open: { ...(open as OpenSettings), ...(dkim !== undefined && { dkim: dkim?.map(({ privateKey: _secret, ...key }) => key) ?? null }) },
    secrets: JSON.stringify(secrets),
  };
}

/** Encryption context of a relay's secrets. */
export function relaySecretsPlace(name: string): string {
  return `relay:${name}`;
}

/** The settings as they were given. */
export function joinSecrets({ dkim, ...open }: OpenSettings, secrets: string): RelaySettings {
  const { privateKeys = [], ...own } = JSON.parse(secrets) as Secrets;
  const keys = dkim?.map((key, i) => ({ ...key, privateKey: privateKeys[i] ?? "" }));
  return { ...open, ...own, ...(dkim !== undefined && { dkim: keys ?? null }) };
}

const PROVIDERS: Readonly<
  Record<OAuthProvider, { tokenUrl: (tenant: string) => string; scope: { client: string | null; refresh: string | null } }>
> = {
  microsoft: {
    tokenUrl: (tenant) => `https://login.microsoftonline.com/${encodeURIComponent(tenant)}/oauth2/v2.0/token`,
    scope: { client: "https://outlook.office365.com/.default", refresh: "https://outlook.office.com/SMTP.Send offline_access" },
  },
  google: {
    tokenUrl: () => "https://oauth2.googleapis.com/token",
    // Granted with the refresh token; asking again for less would be an error.
    scope: { client: null, refresh: null },
  },
  custom: { tokenUrl: () => "", scope: { client: null, refresh: null } },
};

/** Checks what depends on several fields. Throws ApiError validation_error that names the field, after `path`. */
export function assertSettings(settings: RelaySettings, path = ""): void {
  const fail = (field: string, code: string, message: string): never => {
    throw invalid(`${path}${field}`, code, message);
  };
  const { user, password, oauth, clientId, refreshToken, clientSecret, tenant, tokenUrl, fallback = [], name } = settings;
  const given = (value: unknown): boolean => value !== undefined && value !== null;
  if (given(password) && !given(user)) fail("user", "required", "A password needs its user.");
  if (given(user) && !given(password) && !given(oauth))
    fail("password", "required", `The user needs a password, or oauth: ${OAUTH_PROVIDERS.join(", ")}.`);
  if (given(user) && (settings.tls === "off" || settings.tls === "opportunistic") && !isLoopback(settings.host))
    fail("tls", "not_allowed", `A login must be encrypted: tls is required or implicit, except on this machine.`);
  if (name === DEFAULT_RELAY && given(settings.workspaceId))
    fail(
      "workspaceId",
      "not_allowed",
      `The relay ${DEFAULT_RELAY} takes mail of every workspace. Give this one another name, and name it in the workspace.`,
    );
  if (fallback.includes(name)) fail("fallback", "invalid", "A relay cannot take over from itself.");
  if (new Set(fallback).size < fallback.length) fail("fallback", "invalid", "fallback names a relay twice.");
  if (!given(oauth)) {
    for (const field of ["clientId", "clientSecret", "refreshToken", "tenant", "tokenUrl", "scope"] as const)
      if (given(settings[field])) fail(field, "not_allowed", `${field} needs oauth: ${OAUTH_PROVIDERS.join(", ")}.`);
    return;
  }
  if (given(password)) fail("password", "not_allowed", "Give either a password or oauth.");
  if (!given(user)) fail("user", "required", "oauth needs user, the mailbox that sends.");
  if (!given(clientId)) fail("clientId", "required", "oauth needs clientId, the id of your application.");
  if (oauth === "microsoft" && !given(tenant) && !given(tokenUrl))
    fail("tenant", "required", "Microsoft needs tenant, the id of your directory.");
  if (oauth === "google" && !given(refreshToken))
    fail("refreshToken", "required", "Google gives tokens for SMTP only by a refresh token; see docs/relays.md.");
  if (oauth === "custom" && !given(tokenUrl)) fail("tokenUrl", "required", "oauth custom needs tokenUrl.");
  if (!given(refreshToken) && !given(clientSecret))
    fail("clientSecret", "required", "Give clientSecret for client credentials, or refreshToken.");
  if (given(tokenUrl)) assertTokenUrl(tokenUrl as string, fail);
}

function assertTokenUrl(text: string, fail: (field: string, code: string, message: string) => never): void {
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "") fail("tokenUrl", "invalid", "tokenUrl must not hold a user or password.");
  if (protocol !== "https:" && !(protocol === "http:" && isLoopback(hostname)))
    fail("tokenUrl", "invalid", "tokenUrl must begin with https://.");
}

/**
 * Builds the request for a relay's access tokens; null if it does not log in with one. `refreshToken` replaces that of the
 * settings.
 */
export function toTokenRequest({
  oauth,
  tenant,
  clientId,
  clientSecret,
  refreshToken,
  scope,
  tokenUrl,
}: RelaySettings): TokenRequest | null {
  if (!oauth || !clientId) return null;
  const provider = PROVIDERS[oauth];
  return {
    tokenUrl: tokenUrl ?? provider.tokenUrl(tenant ?? ""),
    clientId,
    clientSecret: clientSecret ?? null,
    refreshToken: refreshToken ?? null,
    scope: scope ?? (refreshToken ? provider.scope.refresh : provider.scope.client),
  };
}

/** Returns the address of a relay and its connection settings, without the login. */
export function toTarget(settings: RelaySettings): SmtpTarget {
  const { tls, port, verify } = withDefaults(settings);
  return {
    host: settings.host,
    port,
    implicitTls: tls === "implicit",
    tls: tls === "implicit" ? "required" : tls,
    verify,
    auth: null,
    ...(settings.connections !== undefined && { maxConnections: settings.connections }),
  };
}

/** A DKIM key as the operator gave it; without workspaces it signs for the first one, or that of its relay. */
export type GivenKey = Omit<DkimKey, "workspaces"> & { readonly workspaces?: readonly string[] | "all" | undefined };

/**
 * The DKIM keys that a relay signs with: its own, or those of the server. Domains are in the form they are compared in. A key that names no
 * workspaces signs for `first`, because whoever gave it did not have the mail of others in mind.
 */
export function toDkimKeys({ dkim, workspaceId }: RelaySettings, ofServer: readonly GivenKey[], first: string): readonly DkimKey[] {
  return (dkim ?? ofServer).map(({ domain, selector, privateKey, workspaces = [dkim && workspaceId ? workspaceId : first] }) => ({
    ...{ domain: toDomain(domain), selector, privateKey },
    workspaces: workspaces === "all" ? null : workspaces,
  }));
}

/** Shows a relay's settings as the API does. */
export function showSettings(settings: RelaySettings): Omit<Relay, "source" | "state" | "reason" | "since" | "answeredAt"> {
  const { user, oauth, tenant, clientId, scope, tokenUrl, dkim, ratePerSecond, fallback, workspaceId, refreshToken } = settings;
  return {
    name: settings.name,
    host: settings.host,
    ...withDefaults(settings),
    auth: oauth ? (refreshToken ? "refresh_token" : "client_credentials") : user ? "password" : "none",
    user: user ?? null,
    oauth: oauth ?? null,
    tenant: tenant ?? null,
    clientId: clientId ?? null,
    scope: scope ?? null,
    tokenUrl: tokenUrl ?? null,
    dkim: dkim?.map(({ domain, selector, workspaces = null }) => ({ domain, selector, workspaces })) ?? null,
    ratePerSecond: ratePerSecond ?? null,
    fallback: fallback ?? [],
    workspaceId: workspaceId ?? null,
  };
}

const CONNECTIONS = 5;
const PORTS: Readonly<Record<RelayTls, number>> = { implicit: 465, required: 587, opportunistic: 587, off: 587 };

function withDefaults({ host, tls, port, verify, user, connections }: RelaySettings) {
  const local = isLoopback(host);
  const chosen = tls ?? (port === 465 ? "implicit" : user && !local ? "required" : "opportunistic");
  return { tls: chosen, port: port ?? PORTS[chosen], verify: verify ?? !local, connections: connections ?? CONNECTIONS };
}
