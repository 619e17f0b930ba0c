import { createHash } from "node:crypto";

// Crockford's base 32 in lower case, as in `ids.ts`.
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
// Ids of deliveries are built otherwise, and have no room for a version.
const ID = /^(?!whd_)[a-z]{2,4}_[0-9a-hjkmnp-tv-z]{26}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const ID_FIELD = /(?:^|_)ids?$/;

// Bits of an id: the time in milliseconds, then random ones, of which the first is never set. A UUID has 122 besides version and variant.
const RANDOM_BITS = 80n;
const KEPT_RANDOM_BITS = 79n;
const KEPT_BITS = 122n;

/**
 * An id as a UUID, for programs that keep ids in columns of that type: the same bits, so that no table is needed to read it back. Anything
 * else stays as it is, also an id made after the year 2248, whose time does not fit.
 */
export function toUuid(id: string): string {
  if (!ID.test(id)) return id;
  let bits = 0n;
  for (const char of id.slice(id.indexOf("_") + 1)) bits = (bits << 5n) | BigInt(ALPHABET.indexOf(char));
  const time = bits >> RANDOM_BITS;
  const random = bits & ((1n << RANDOM_BITS) - 1n);
  const kept = (time << KEPT_RANDOM_BITS) | random;
  if (random >> KEPT_RANDOM_BITS !== 0n || kept >> KEPT_BITS !== 0n) return id;
  return formatUuid(kept);
}

/** The id with a prefix such as `em` that `toUuid` made this UUID of. Anything but a UUID of that kind stays as it is. */
export function fromUuid(prefix: string, text: string): string {
  if (!UUID.test(text)) return text;
  const hex = BigInt(`0x${text.replaceAll("-", "")}`);
  const kept = ((hex >> 80n) << 74n) | (((hex >> 64n) & 0xfffn) << 62n) | (hex & ((1n << 62n) - 1n));
  let bits = ((kept >> KEPT_RANDOM_BITS) << RANDOM_BITS) | (kept & ((1n << KEPT_RANDOM_BITS) - 1n));
  let id = "";
  for (let i = 0; i < 26; i += 1) {
    id = `${ALPHABET[Number(bits & 31n)]}${id}`;
    bits >>= 5n;
  }
  return `${prefix}_${id}`;
}

/** The UUID of a part of an object that has no id of its own, such as the second file of a mail: the same for the same name. */
export function toPartUuid(id: string, name: string | number): string {
  const digest = createHash("sha256").update(`${id} ${name}`).digest("hex");
  return formatUuid(BigInt(`0x${digest}`) >> (256n - KEPT_BITS));
}

/** JSON with a UUID in each field for ids: `id`, `email_id`, `segment_ids`. What people wrote stands in fields with other names. */
export function withUuids(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withUuids);
  if (typeof json !== "object" || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, ID_FIELD.test(name) ? showId(value) : withUuids(value)]));
}

function showId(value: unknown): unknown {
  if (typeof value === "string") return toUuid(value);
  return Array.isArray(value) ? value.map(showId) : withUuids(value);
}

/** 122 bits as a UUID of version 4, the only one that some programs take. */
function formatUuid(bits: bigint): string {
  const hex = (((bits >> 74n) << 80n) | (4n << 76n) | (((bits >> 62n) & 0xfffn) << 64n) | (2n << 62n) | (bits & ((1n << 62n) - 1n)))
    .toString(16)
    .padStart(32, "0");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
