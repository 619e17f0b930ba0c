import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Random } from "../lib/random.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Which kind a key is: a developer's, or an agent's for one activation. */
export type KeyKind = "live" | "agent";

/** What a key looks like; secret scanners may use it. */
export const KEY_PATTERN = /^ms_(live|agent)_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/;

/** A new key: prefix, 256 random bits in base 62, and a checksum that tells a typing error without asking the database. */
export function makeKey(random: Random, kind: KeyKind = "live"): string {
  const key = `ms_${kind}_${base62(BigInt(`0x${Buffer.from(random.bytes(32)).toString("hex")}`), 43)}`;
  return key + checksum(key);
}

/** The kind of a text that is well formed and whose checksum holds; null for any other. */
export function parseKeyKind(text: string): KeyKind | null {
  const kind = KEY_PATTERN.exec(text)?.[1];
  return kind !== undefined && text.slice(-6) === checksum(text.slice(0, -6)) ? (kind as KeyKind) : null;
}

/** True for a well-formed developer key. */
export function isDeveloperKey(text: string): boolean {
  return parseKeyKind(text) === "live";
}

/** What is stored of a key. */
export function hashKey(key: string): string {
  return hash("sha256", key, "hex");
}

/** The visible ends, to tell keys apart. */
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

// The prefix counts too: a key of one kind cannot be dressed up as the other.
function checksum(prefixed: string): string {
  return base62(BigInt(crc32(prefixed)), 6);
}
