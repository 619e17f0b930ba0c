import { DISTURBANCES } from "./disturbances.ts";
import { NEEDS, NOUNS } from "./nouns.ts";
import { type Aim, deliveryOf, type Pair } from "./pairs.ts";
import { type Pick, picker, type Script, STARTS, type Step, TENANTS, type Tenant } from "./script.ts";

const NOUN_NAMES = Object.keys(NOUNS);
const DISTURBANCE_NAMES = Object.keys(DISTURBANCES);

/** Nouns and disturbances in which several parts of the service meet: half of what chance adds to a world is of these. */
const MEETING_NOUNS = ["series", "waiting", "leaving", "campaign", "testedCampaign"] as const;
const MEETING_DISTURBANCES = ["erase", "holdDomain", "between"] as const;

/** Number of pairs of a noun and a disturbance. Consecutive seeds try all of them, one each. */
export const PAIRS = NOUN_NAMES.length * DISTURBANCE_NAMES.length;

/** Nouns that others need to be of use. */
const BASIS = ["crowd", "list", "segment", "template", "webhook"] as const;

/**
 * The script of a seed: people and what they are in, some things that are begun, and disturbances while these are under way. It tries what
 * it aims at first: by default the pair that belongs to the seed. The rest is chance.
 */
export function generate(seed: number, database: Script["database"], { nouns, deeds }: Aim = aimOf(seed)): Script {
  const pick = picker(seed);
  const steps: Step[] = [];
  const things: string[] = [];
  // The second workspace has less to do, but the same.
  const choose = (): Tenant => (pick.oneIn(5) ? TENANTS[1] : TENANTS[0]);
  const make = (noun: string, tenant = choose()): string => {
    const label = `${noun}-${steps.length}`;
    steps.push({ do: "make", noun, as: label, tenant, seed: chance(pick) });
    things.push(label);
    return label;
  };
  const makeAny = (): string => make(pick.oneIn(2) ? pick.of(...MEETING_NOUNS) : pick.of(...NOUN_NAMES));
  const disturb = (by: string, on: string): void => void steps.push({ do: "disturb", by, on, seed: chance(pick) });
  const pass = (): void => void steps.push({ do: "pass", by: pick.of("0s", "1s", "30s", "20m", "5h", "2d") });

  // Deeds to a thing itself, and pauses, come more often than all else; then the thing is let be for a while. Things that the first thing
  // needs, and those that all need, are disturbed as well.
  const disturbOne = (): void => {
    const on = pick.oneIn(4) ? pick.of(...basis) : pick.oneIn(3) ? first : pick.of(...things);
    const own = Object.keys(NOUNS[on.slice(0, on.lastIndexOf("-"))]?.verbs ?? {});
    const kind = pick.int(0, 9);
    if (kind < 4 && own.length > 0) disturb(pick.of(...own), on);
    else if (kind < 6) disturb("pauseForAWhile", on);
    else disturb(pick.oneIn(2) ? pick.of(...MEETING_DISTURBANCES) : pick.of(...DISTURBANCE_NAMES), on);
    if (kind < 6 && pick.oneIn(2)) pass();
  };

  const basis = BASIS.map((noun, i) => `${noun}-${i}`);
  for (const [i, noun] of BASIS.entries()) steps.push({ do: "make", noun, as: basis[i] as string, tenant: TENANTS[0], seed: chance(pick) });
  const tenant = choose();
  const needed = [...nouns.flatMap((noun) => NEEDS[noun] ?? []), ...deeds.flatMap(({ disturbance }) => NEEDED_BY[disturbance] ?? [])];
  for (const noun of new Set(needed)) make(noun, tenant);
  for (let i = pick.int(0, 3); i > 0; i -= 1) makeAny();
  const labels = new Map(nouns.map((noun) => [noun, make(noun, tenant)]));
  const [first = ""] = labels.values();
  for (const { noun, disturbance } of deeds) {
    if (pick.oneIn(3)) pass();
    disturb(disturbance, labels.get(noun) ?? first);
  }
  if (pick.oneIn(2)) pass();
  for (let i = pick.int(2, 6); i > 0; i -= 1) {
    const next = pick.int(0, 3);
    if (next === 0) pass();
    else if (next === 1) makeAny();
    else disturbOne();
  }
  const servers = database === "postgres" && pick.oneIn(2) ? 2 : 1;
  const delivery = deliveryOf(nouns, deeds) ?? pick.of("captured" as const, "relay" as const);
  return { seed, database, delivery, servers, keepDays: pick.oneIn(6) ? 5 : null, start: pick.of(...STARTS), steps };
}

/** The pair that a seed tries for certain. */
export function pairOf(seed: number): Pair {
  const n = seed % PAIRS;
  return {
    noun: NOUN_NAMES[n % NOUN_NAMES.length] as string,
    // Both change from one seed to the next.
    disturbance: DISTURBANCE_NAMES[(Math.floor(n / NOUN_NAMES.length) + (n % NOUN_NAMES.length)) % DISTURBANCE_NAMES.length] as string,
  };
}

function aimOf(seed: number): Aim {
  const pair = pairOf(seed);
  return { nouns: [pair.noun], deeds: [pair] };
}

/** Nouns that a disturbance needs before it. */
const NEEDED_BY: Readonly<Record<string, readonly string[]>> = { scopes: ["agent"], report: ["mail"] };

const chance = (pick: Pick): number => pick.int(1, 2_000_000_000);
