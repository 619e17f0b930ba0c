import { readFileSync } from "node:fs";
import { isLoopbackHost, parseAddress, ROLES, type Role, toDomain } from "@mailsvc/sdk/contract";

/** Single sign-on by a provider of OpenID Connect. */
export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client, which proves itself by PKCE alone. */
  readonly clientSecret: string | null;
  /** Domains whose people sign in without an invitation, and only by the provider. */
  readonly domains: readonly string[];
  /** Their role; null without domains. */
  readonly role: Role | null;
}

type OidcFlag = "oidc-issuer" | "oidc-client-id" | "oidc-client-secret" | "oidc-client-secret-file" | "oidc-domains" | "oidc-role";

/** Reads the flags of OpenID Connect; null without them. `refuse` throws for values that cannot be honoured. */
export function readOidc(value: (flag: OidcFlag) => string | undefined, refuse: (message: string) => never): OidcConfig | null {
  const [issuer, clientId] = [value("oidc-issuer"), value("oidc-client-id")];
  if (issuer === undefined && clientId === undefined) {
    const rest = ["oidc-client-secret", "oidc-client-secret-file", "oidc-domains", "oidc-role"] as const;
    const without = rest.find((flag) => value(flag) !== undefined);
    return without === undefined ? null : refuse(`--${without} needs --oidc-issuer and --oidc-client-id.`);
  }
  if (issuer === undefined || clientId === undefined) return refuse("--oidc-issuer and --oidc-client-id belong together.");
  const domains = readDomains(value("oidc-domains") ?? "", refuse);
  const named = value("oidc-role");
  if (domains.length > 0 && named === undefined)
    refuse(`--oidc-domains needs --oidc-role, the role of people who were not invited: ${ROLES.join(", ")}.`);
  if (domains.length === 0 && named !== undefined)
    refuse("--oidc-role is about people of --oidc-domains; others have the role they were invited with.");
  const role =
    named === undefined
      ? null
      : (ROLES.find((one) => one === named) ?? refuse(`--oidc-role is one of ${ROLES.join(", ")}, not "${named}".`));
  return { issuer: readIssuer(issuer, refuse), clientId, clientSecret: readSecret(value, refuse), domains, role };
}

/** True if an address signs in by the provider, and not by a link. */
export function usesProvider(oidc: OidcConfig | null, email: string): boolean {
  return oidc?.domains.includes(parseAddress(email).domain) ?? false;
}

function readIssuer(text: string, refuse: (message: string) => never): string {
  const url = URL.canParse(text)
    ? new URL(text)
    : refuse(`--oidc-issuer must be an address such as https://id.acme.example, not "${text}".`);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopbackHost(url.hostname)))
    refuse("--oidc-issuer must begin with https://, so that nobody on the way can sign in as others.");
  if (url.search !== "" || url.hash !== "" || url.username !== "") refuse("--oidc-issuer has no query, fragment or user name.");
  // Providers compare it to the letter: with or without a slash at the end.
  return text;
}

function readSecret(value: (flag: OidcFlag) => string | undefined, refuse: (message: string) => never): string | null {
  const [secret, file] = [value("oidc-client-secret"), value("oidc-client-secret-file")];
  if (secret !== undefined && file !== undefined) refuse("Give --oidc-client-secret or --oidc-client-secret-file, not both.");
  if (file === undefined) return secret ?? null;
  let text = "";
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    refuse(`--oidc-client-secret-file: ${(error as Error).message}`);
  }
  return text === "" ? refuse(`--oidc-client-secret-file: ${file} is empty.`) : text;
}

function readDomains(text: string, refuse: (message: string) => never): string[] {
  const named = text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
  return named.map((one) => {
    try {
      return toDomain(one);
    } catch {
      return refuse(`--oidc-domains takes domains such as acme.example, not "${one}".`);
    }
  });
}
