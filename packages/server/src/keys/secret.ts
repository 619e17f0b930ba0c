import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Random } from "../lib/random.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * The kind of a key, in its prefix: a developer's on a server in production (`live`), in dev mode (`dev`) or for test mail
 * (`test`), the operator's (`op`), or an agent's for one activation (`agent`).
 */
type KeyKind = "live" | "dev" | "test" | "op" | "agent";

/** The form of a key; secret scanners may use it. */
export const KEY_PATTERN = /^ms_(live|dev|test|op|agent)_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/;

/** A new key: prefix, 256 random bits in base 62, and a checksum that finds typing errors without a database read. */
export function makeKey(random: Random, kind: KeyKind): string {
  const key = `ms_${kind}_${base62(BigInt(`0x${Buffer.from(random.bytes(32)).toString("hex")}`), 43)}`;
  return key + checksum(key);
}

/** The kind of a well-formed key whose checksum is right; null for any other text. */
export function parseKeyKind(text: string): KeyKind | null {
  const kind = KEY_PATTERN.exec(text)?.[1];
  return kind !== undefined && text.slice(-6) === checksum(text.slice(0, -6)) ? (kind as KeyKind) : null;
}

/** True for the kinds of keys that belong to a workspace and carry permissions. */
export function isDeveloperKind(kind: KeyKind): kind is "live" | "dev" | "test" {
  return kind === "live" || kind === "dev" || kind === "test";
}

/** The SHA-256 of a key, hex: all that is stored of it. */
export function hashKey(key: string): string {
  return hash("sha256", key, "hex");
}

/** Both ends of a key, to tell keys apart: `ms_live_ab…wxyz`. */
export function previewKey(key: string): string {
  return `${key.slice(0, key.lastIndexOf("_") + 3)}…${key.slice(-4)}`;
}

function base62(value: bigint, length: number): string {
  let out = "";
  let rest = value;
  for (let i = 0; i < length; i += 1) {
    out = BASE62[Number(rest % 62n)] + out;
    rest /= 62n;
  }
  return out;
}

// Covers the prefix, so a key of one kind cannot be rewritten as another kind.
function checksum(prefixed: string): string {
  return base62(BigInt(crc32(prefixed)), 6);
}
