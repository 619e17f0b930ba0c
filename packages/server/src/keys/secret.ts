import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Random } from "../lib/random.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX = "ms_live_";
/** What a developer key looks like; secret scanners may use it. */
export const KEY_PATTERN = /^ms_live_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/;

const base62 = (value: bigint, length: number): string => {
  let out = "";
  let rest = value;
  for (let i = 0; i < length; i += 1) {
    out = BASE62[Number(rest % 62n)] + out;
    rest /= 62n;
  }
  return out;
};

const checksum = (body: string): string => base62(BigInt(crc32(PREFIX + body)), 6);

/** A new key: prefix, 256 random bits in base 62, and a checksum that tells a typing error without asking the database. */
export const makeKey = (random: Random): string => {
  const body = base62(BigInt(`0x${Buffer.from(random.bytes(32)).toString("hex")}`), 43);
  return `${PREFIX}${body}${checksum(body)}`;
};

/** True when a text is well formed and its checksum holds. */
export const isKey = (text: string): boolean => KEY_PATTERN.test(text) && text.slice(-6) === checksum(text.slice(PREFIX.length, -6));

/** What is stored of a key. */
export const hashKey = (key: string): string => hash("sha256", key, "hex");

/** The visible ends, to tell keys apart. */
export const previewKey = (key: string): string => `${key.slice(0, PREFIX.length + 2)}…${key.slice(-4)}`;
