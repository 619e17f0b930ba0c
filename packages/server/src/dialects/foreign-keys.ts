import type { KeyLookup } from "../http/auth.ts";

/**
 * Looks up the keys of a dialect's requests. In dev mode each key in the form of the other service counts as `devKey`, so that a program
 * runs with the key it has; without a `devKey` only keys of this server count.
 */
export function lookUpForeignKeys(keys: KeyLookup, isForeign: (key: string) => boolean, devKey: string | null): KeyLookup {
  if (devKey === null) return keys;
  const toOwn = (key: string): string => (isForeign(key) ? devKey : key);
  return { ...keys, parseKind: (key) => keys.parseKind(toOwn(key)), hash: (key) => keys.hash(toOwn(key)) };
}
