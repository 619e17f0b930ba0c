import type { Endpoint } from "@mailsvc/sdk/contract";
import type { KeyInfo, KeyRing } from "../keys/ring.ts";
import { isKey } from "../keys/secret.ts";
import { ApiError } from "../lib/api-error.ts";
import type { HeaderReader } from "./exchange.ts";

/** The live key a request carries (SPEC 5.1). Throws ApiError unauthorized or key_revoked. */
export const authenticate = (headers: HeaderReader, ring: KeyRing): KeyInfo | Promise<KeyInfo> => {
  const header = headers.get("authorization");
  const refuse = (message: string): never => {
    throw new ApiError("unauthorized", message, { headers: { "www-authenticate": "Bearer" } });
  };
  if (!header) return refuse("There is no key: the Authorization header is missing.");
  const key = /^Bearer +(\S+)$/i.exec(header)?.[1];
  if (!key) return refuse("The Authorization header is not of the form: Bearer <API_KEY>.");
  const hash = ring.hashOf(key);
  const judge = (found: KeyInfo | null): KeyInfo => {
    if (!found) return refuse("This key is not known here.");
    if (found.revokedAt !== null) throw new ApiError("key_revoked", "This key was revoked.", { headers: { "www-authenticate": "Bearer" } });
    return found;
  };
  const known = ring.known(hash);
  if (known !== undefined) return judge(known);
  // A key with a typing error in it costs no database read.
  if (!isKey(key)) return refuse("This key is not well formed; it may be cut off or mistyped.");
  return ring.load(hash).then(judge);
};

/** Throws ApiError forbidden when the key lacks what the endpoint asks for. */
export const authorise = (key: KeyInfo, { access }: Endpoint): void => {
  if (typeof access === "string" || "scope" in access || key.owner || key.permissions.has(access.permission)) return;
  throw new ApiError("forbidden", `This key lacks the permission ${access.permission}.`, {
    details: [{ path: "", code: "missing_permission", message: access.permission }],
  });
};
