import type { KeyLookup } from "../http/auth.ts";
import { ApiError } from "../lib/api-error.ts";

/**
 * Looks up the keys of a dialect's requests. In dev mode each key in the form of the other service counts as `devKey`, so that a program
 * runs with the key it has; without a `devKey` only keys of this server count.
 */
export function lookUpForeignKeys(keys: KeyLookup, isForeign: (key: string) => boolean, devKey: string | null): KeyLookup {
  if (devKey === null) return keys;
  const toOwn = (key: string): string => (isForeign(key) ? devKey : key);
  return { ...keys, parseKind: (key) => keys.parseKind(toOwn(key)), hash: (key) => keys.hash(toOwn(key)) };
}

/**
 * Returns the same error. If keys in the form of the other service count here, the error for a missing or unknown key names that form,
 * such as `re_…`.
 */
export function adviseForeignKey(error: ApiError, form: string, devKey: string | null): ApiError {
  if (devKey === null || error.code !== "unauthorized") return error;
  const { code, message, details, headers } = error;
  const hint = `Send any key in the form of that service, or one of this server: Authorization: Bearer ${form}`;
  return new ApiError(code, message, { details, headers, hint, cause: error });
}
