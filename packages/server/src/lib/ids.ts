import type { Clock } from "./clock.ts";
import type { Random } from "./random.ts";

/**
 * Prefixes of ids, which tell what an id identifies, each with the table of the rows. Each module declares its own in `tables.ts`; one that
 * two tables declare does not compile.
 */
export interface IdPrefixes {
  /** Faults of dev mode, which are in no table. */
  readonly flt: null;
}

type IdPrefix = keyof IdPrefixes;

/** Makes ids: `em_` and 26 characters, sorted by time, unique without coordination. */
export type Ids = (prefix: IdPrefix) => string;

// Crockford's base 32 in lower case: no i, l, o, u.
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

// All pairs of digits: 10 bits at a time are looked up.
const PAIRS = Array.from({ length: 1024 }, (_, n) => `${ALPHABET[n >> 5]}${ALPHABET[n & 31]}`);
const TAIL = 2 ** 20;

/**
 * 10 characters of time (48 bits, ms) and 16 random ones (80 bits). Within a millisecond the random part counts up, so ids sort in the
 * order of creation.
 */
export function makeIds(clock: Pick<Clock, "now">, random: Random): Ids {
  let lastMs = -1;
  let time = "";
  /** The first 12 random characters, in pairs; the last 4 count up in `tail`. */
  const pairs = new Uint16Array(6);
  let head = "";
  let tail = 0;

  const write = (): void => {
    head = time;
    for (const pair of pairs) head += PAIRS[pair];
  };
  const carry = (): void => {
    let i = 5;
    while ((pairs[i] = ((pairs[i] as number) + 1) & 1023) === 0) i -= 1;
    tail = 0;
    write();
  };

  return (prefix) => {
    // A clock that goes back must not break the order.
    const ms = Math.max(clock.now(), lastMs);
    if (ms !== lastMs) {
      lastMs = ms;
      time = encodeTime(ms);
      const chance = random.bytes(15);
      const byte = (i: number): number => chance[i] as number;
      for (let i = 0; i < 6; i += 1) pairs[i] = ((byte(2 * i) << 8) | byte(2 * i + 1)) & 1023;
      // Headroom, so that the increments of one millisecond never overflow.
      pairs[0] = (pairs[0] as number) & 511;
      tail = ((byte(12) << 16) | (byte(13) << 8) | byte(14)) & (TAIL - 1);
      write();
    } else if (++tail === TAIL) carry();
    return `${prefix}_${head}${four(tail)}`;
  };
}

/** The smallest id of an instant, ms: ids with this prefix that are made then or later are not below it. */
export function firstIdAt(prefix: IdPrefix, ms: number): string {
  return `${prefix}_${encodeTime(Math.max(0, ms))}${"0".repeat(16)}`;
}

/** The instant at which an id was made, ms. */
export function readIdTime(id: string): number {
  return [...id.slice(id.indexOf("_") + 1, id.indexOf("_") + 11)].reduce((ms, char) => ms * 32 + ALPHABET.indexOf(char), 0);
}

/** 20 bits as 4 characters. */
function four(bits: number): string {
  return `${PAIRS[bits >> 10]}${PAIRS[bits & 1023]}`;
}

function encodeTime(ms: number): string {
  const high = Math.floor(ms / TAIL);
  return `${PAIRS[Math.floor(high / TAIL)]}${four(high % TAIL)}${four(ms % TAIL)}`;
}

// The first of the 26 characters of an id made by `ids("em")` is 0 for the next thousand years, so no other email has this
// prefix.
const TEST_PREFIX = "em_t";

/**
 * The id of an email of a test key, made of a new id. It tells wherever the id is known that nothing may follow from the email outside of
 * itself, and costs other emails nothing: ids of test mail sort after all others, so that each index of emails holds them apart.
 */
export function toTestId(emailId: string): string {
  return TEST_PREFIX + emailId.slice(TEST_PREFIX.length);
}

/** The id that an email of a test key would have without it: it tells when the email was accepted. */
export function toPlainId(emailId: string): string {
  return isTestMail(emailId) ? `em_0${emailId.slice(TEST_PREFIX.length)}` : emailId;
}

/** True if the email with this id was sent with a test key. */
export function isTestMail(emailId: string | null | undefined): boolean {
  return emailId?.startsWith(TEST_PREFIX) === true;
}

/** A text between the ids of all other emails and those of test mail, for conditions on ids. */
export const TEST_MAIL_FROM = TEST_PREFIX;
