import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Random } from "../lib/random.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Which kind a key is: a developer's, or an agent's for one activation. */
export type KeyKind = "live" | "agent";

/** What a key looks like; secret scanners may use it. */
export const KEY_PATTERN = /^ms_(live|agent)_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/;

const base62 = (value: bigint, length: number): string => {
  let out = "";
  let rest = value;
  for (let i = 0; i < length; i += 1) {
    out = BASE62[Number(rest % 62n)] + out;
    rest /= 62n;
  }
  return out;
};

// The prefix counts too: a key of one kind cannot be dressed up as the other.
const checksum = (prefixed: string): string => base62(BigInt(crc32(prefixed)), 6);

/** A new key: prefix, 256 random bits in base 62, and a checksum that tells a typing error without asking the database. */
export const makeKey = (random: Random, kind: KeyKind = "live"): string => {
  const key = `ms_${kind}_${base62(BigInt(`0x${Buffer.from(random.bytes(32)).toString("hex")}`), 43)}`;
  return key + checksum(key);
};

/** The kind of a text that is well formed and whose checksum holds; null for any other. */
export const kindOfKey = (text: string): KeyKind | null => {
  const kind = KEY_PATTERN.exec(text)?.[1];
  return kind !== undefined && text.slice(-6) === checksum(text.slice(0, -6)) ? (kind as KeyKind) : null;
};

/** True for a well-formed developer key. */
export const isKey = (text: string): boolean => kindOfKey(text) === "live";

/** What is stored of a key. */
export const hashKey = (key: string): string => hash("sha256", key, "hex");

/** The visible ends, to tell keys apart. */
export const previewKey = (key: string): string => `${key.slice(0, key.lastIndexOf("_") + 3)}…${key.slice(-4)}`;
