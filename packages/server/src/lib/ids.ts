import type { Clock } from "./clock.ts";
import type { Random } from "./random.ts";

/** What an id names; the prefix makes ids tell what they are. */
export type IdPrefix =
  | "ws"
  | "key"
  | "snd"
  | "sup"
  | "em"
  | "evt"
  | "mail"
  | "req"
  | "flt"
  | "con"
  | "list"
  | "seg"
  | "tpl"
  | "tver"
  | MarketplacePrefix;

/** Of the marketplace: listings, payments, activations, runs, messages, credit entries, wakeups, landing pages, assets, lead magnets, contents of files. */
type MarketplacePrefix = "lst" | "pay" | "act" | "run" | "msg" | "ctx" | "wku" | "lp" | "ast" | "lm" | "fc" | "sub";

/** Makes ids: `em_` + 26 characters, sorted by time, unique without asking anybody. */
export type Ids = (prefix: IdPrefix) => string;

// Crockford's base 32 in lower case: no i, l, o, u.
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_CHARS = 10;

const encodeTime = (ms: number): string => {
  let out = "";
  let rest = ms;
  for (let i = 0; i < TIME_CHARS; i += 1) {
    out = ALPHABET[rest % 32] + out;
    rest = Math.floor(rest / 32);
  }
  return out;
};

// Every pair of digits, so that the end of an id is two look-ups.
const PAIRS = Array.from({ length: 1024 }, (_, n) => `${ALPHABET[n >> 5]}${ALPHABET[n & 31]}`);
const TAIL = 2 ** 20;

/** 10 characters of time (48 bits, ms) and 16 of chance (80 bits); within one millisecond the chance part counts up, so order of making is order of sorting. */
export const makeIds = (clock: Pick<Clock, "now">, random: Random): Ids => {
  let lastMs = -1;
  let time = "";
  /** The first 12 characters of chance, as digits; the last 4 count up in `tail`. */
  let digits = new Uint8Array(12);
  let head = "";
  let tail = 0;

  const carry = (): void => {
    let i = 11;
    while ((digits[i] = ((digits[i] as number) + 1) & 31) === 0) i -= 1;
    tail = 0;
    head = time + Array.from(digits, (digit) => ALPHABET[digit]).join("");
  };

  return (prefix) => {
    // A clock that steps back must not break the order.
    const ms = Math.max(clock.now(), lastMs);
    if (ms !== lastMs) {
      lastMs = ms;
      time = encodeTime(ms);
      const chance = random.bytes(16).map((b) => b & 31);
      digits = chance.slice(0, 12);
      // Head room: the increments of one millisecond never run over.
      digits[0] = (digits[0] as number) & 15;
      head = time + Array.from(digits, (digit) => ALPHABET[digit]).join("");
      tail = chance.subarray(12).reduce((sum, digit) => sum * 32 + digit, 0);
    } else if (++tail === TAIL) carry();
    return `${prefix}_${head}${PAIRS[tail >> 10]}${PAIRS[tail & 1023]}`;
  };
};
