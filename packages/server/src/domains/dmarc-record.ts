import type { Lookups } from "./lookups.ts";
import { parseTags } from "./tags.ts";

/*
 * DMARC as of RFC 9989: a record is found by a walk up the DNS tree; there is no list of public suffixes.
 */

// The walk looks at the domain itself, and then at no more than its last seven labels.
const MAX_LABELS = 7;

/** A place on the way up from a domain, and what is there. */
interface Place {
  readonly domain: string;
  readonly tags: ReadonlyMap<string, string> | null;
  /** True if there are several records, none of which counts. */
  readonly several: boolean;
}

/** The way up from a domain, as far as it has to be gone. */
export interface TreeWalk {
  readonly places: readonly Place[];
  /** Reason the walk stopped early. */
  readonly fault: string | null;
}

/** Walks up from a domain, looking for DMARC records. */
export async function walkTree(lookups: Lookups, domain: string): Promise<TreeWalk> {
  const places: Place[] = [];
  for (const name of listWay(domain)) {
    const { records, fault } = await lookups.txt(`_dmarc.${name}`);
    if (fault !== null) return { places, fault };
    const [tags, ...others] = records.filter((text) => /^\s*[vV][ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/.test(text)).map(readTags);
    const place = { domain: name, tags: others.length === 0 ? (tags ?? null) : null, several: others.length > 0 };
    places.push(place);
    const psd = place.tags?.get("psd");
    if (psd === "n" || psd === "y") break;
  }
  return { places, fault: null };
}

/** The organizational domain: two domains that have the same one are aligned. */
export function findOrganization({ places }: TreeWalk): string {
  const [start] = places;
  const own = places.find(({ tags }) => tags?.get("psd") === "n");
  if (own) return own.domain;
  const suffix = places.findIndex(({ tags }, i) => i > 0 && tags?.get("psd") === "y");
  // The domain one label below a public suffix that says that it is one. The walk may have jumped over it.
  if (suffix > 0) {
    const length = (places[suffix]?.domain.split(".").length ?? 0) + 1;
    return start?.domain.split(".").slice(-length).join(".") ?? "";
  }
  return places.findLast(({ tags }) => tags !== null)?.domain ?? start?.domain ?? "";
}

/**
 * Finds the record that decides about mail from the domain where a walk started: its own, that of its organizational domain, or that of
 * the public suffix above this one. Null if there is none; a record on the way between them does not count.
 */
export function findPolicyRecord(walk: TreeWalk): { readonly domain: string; readonly tags: ReadonlyMap<string, string> } | null {
  const organization = findOrganization(walk);
  const found = walk.places[0]?.tags
    ? walk.places[0]
    : (walk.places.find(({ domain, tags }) => domain === organization && tags !== null) ??
      walk.places.find(({ tags }) => tags?.get("psd") === "y"));
  return found?.tags ? { domain: found.domain, tags: found.tags } : null;
}

/** True if two domains are aligned, as `adkim` or `aspf` asks for it. */
export async function isAligned(lookups: Lookups, from: TreeWalk, other: string, mode: string | undefined): Promise<boolean> {
  const [start] = from.places;
  if (start?.domain === other) return true;
  if (mode === "s") return false;
  return findOrganization(from) === findOrganization(await walkTree(lookups, other));
}

// Tags whose values are words of the standard, in which case does not matter.
const WORDS = new Set(["p", "sp", "np", "adkim", "aspf", "t", "psd"]);

function readTags(text: string): Map<string, string> {
  return new Map([...parseTags(text)].map(([tag, value]) => [tag, WORDS.has(tag) ? value.toLowerCase() : value]));
}

function listWay(domain: string): string[] {
  const labels = domain.split(".");
  const first = Math.max(1, labels.length - MAX_LABELS);
  return [domain, ...labels.slice(first).map((_, i) => labels.slice(first + i).join("."))];
}
