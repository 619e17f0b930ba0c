import { createHash } from "node:crypto";
import { and, eq, inArray, max, ne, or, type SQL } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { contains } from "../db/dialect.ts";
import { findRows } from "../db/find.ts";
import { growingCache } from "../lib/growing-cache.ts";
import type { Macs } from "../lib/macs.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import type { TrackingDeps } from "./deps.ts";

/** The path of tracked opens and clicks. */
export const OPEN_PATH = "/t/o";
export const CLICK_PATH = "/t/c";

/** Content of a tracking address: the pixel or a link of one email. */
export interface TrackingToken {
  readonly emailId: string;
  readonly linkId: number;
}

type Kind = "open" | "click";

const PURPOSES: Readonly<Record<Kind, string>> = { open: "tracking open", click: "tracking click" };

// The 26 characters of the email's id, the link in base 36, the signature.
const TOKEN = /^([0-9a-hjkmnp-tv-z]{26})([1-9a-z][0-9a-z]{0,9})([\w-]{16})$/;

/** A token of about 45 characters. It contains no address and is valid for this kind only. */
export function makeToken(macs: Macs, kind: Kind, { emailId, linkId }: TrackingToken): string {
  const text = emailId.slice(3) + linkId.toString(36);
  return text + macs.sign(PURPOSES[kind], text);
}

/** Null for a token that this installation has not made. */
export function parseToken(macs: Macs, kind: Kind, token: string): TrackingToken | null {
  const [, id, link, signature] = TOKEN.exec(token) ?? [];
  if (id === undefined || link === undefined || signature === undefined) return null;
  if (!macs.verify(PURPOSES[kind], id + link, signature)) return null;
  return { emailId: `em_${id}`, linkId: Number.parseInt(link, 36) };
}

/** The id of a link as events show it. */
export function showLinkId(linkId: number): string {
  return `lnk_${linkId.toString(36)}`;
}

/** The link that stands for the opens of a workspace. */
export const PIXEL = "";

/** Replaces a target that named a person who was erased. Its row stays, so that its id never stands for another target. */
const ERASED = "erased";

// The targets that most mail shares; some megabytes at most.
const MAX_CACHED = 10_000;

export interface TrackedLink {
  readonly workspaceId: string;
  readonly url: string;
}

/** Targets of links, each with the email that has it; null for one that several have. */
type WantedLinks = ReadonlyMap<string, string | null>;

/** Looks up a target that was loaded. */
type LinkIds = (workspaceId: string, url: string) => number;

interface StoredLink {
  readonly id: number;
  readonly ownerId: string | null;
}

type LinkDeps = Pick<TrackingDeps, "db">;

/** The stored targets of links, and a cache of those in use. */
export class TrackedLinks {
  readonly #known = growingCache<string, StoredLink>(MAX_CACHED);
  readonly #links = growingCache<number, TrackedLink>(MAX_CACHED);

  /** The ids of the wanted targets, by workspace. New ones are stored durably, so that no mail leads to an unknown link. */
  async load(deps: LinkDeps, wanted: ReadonlyMap<string, WantedLinks>): Promise<LinkIds> {
    const found = new Map<string, number>();
    for (const [workspaceId, urls] of wanted) {
      const unknown: [url: string, ownerId: string | null][] = [];
      for (const [url, ownerId] of urls) {
        const key = keyOf(workspaceId, url);
        const known = this.#known.get(key);
        // One that only another email had may have gone with it.
        if (known === undefined || (known.ownerId !== null && known.ownerId !== ownerId)) unknown.push([url, ownerId]);
        else found.set(key, known.id);
      }
      for (const chunk of splitIntoChunks(unknown))
        for (const [url, stored] of await storeLinks(deps, workspaceId, new Map(chunk))) {
          found.set(keyOf(workspaceId, url), stored.id);
          this.#remember(stored, { workspaceId, url });
        }
    }
    return (workspaceId, url) => {
      const id = found.get(keyOf(workspaceId, url));
      if (id === undefined) throw new Error("A link was not stored before it was needed.");
      return id;
    };
  }

  /** The target of a link; null if there is none with this id, or if it was erased. */
  async find(q: Tx | Reader, id: number): Promise<TrackedLink | null> {
    const known = this.#links.get(id);
    if (known) return known;
    const { trackedLinks: t } = q.t;
    const [row] = await findRows(q, t, { id });
    if (!row || row.url === ERASED) return null;
    this.#remember(row, row);
    return row;
  }

  clear(): void {
    this.#known.clear();
    this.#links.clear();
  }

  #remember({ id, ownerId }: StoredLink, { workspaceId, url }: TrackedLink): void {
    this.#links.set(id, { workspaceId, url });
    this.#known.set(keyOf(workspaceId, url), { id, ownerId });
  }
}

/**
 * Erases the targets that contain one of these texts, in any case, and those that only these emails have, which may say something of their
 * readers in other words: old links to them lead nowhere. Returns how many.
 */
export async function eraseLinks(
  tx: Tx,
  tracker: { readonly links: TrackedLinks },
  workspaceId: string,
  texts: readonly string[],
  emailIds: readonly string[],
): Promise<number> {
  const { trackedLinks: t } = tx.t;
  const naming = or(...texts.map((text) => contains(tx.sqlDialect, t.url, text)));
  const erased = new Set<number>();
  for (const which of [naming, ...splitIntoChunks(emailIds).map((chunk) => inArray(t.ownerId, chunk))])
    for (const { id } of await tx
      .select({ id: t.id })
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), which)))
      erased.add(id);
  if (erased.size === 0) return 0;
  for (const id of erased)
    await tx
      .update(t)
      .set({ url: ERASED, hash: `${ERASED} ${id}`, ownerId: null })
      .where(eq(t.id, id));
  tx.afterCommit(() => tracker.links.clear());
  return erased.size;
}

/**
 * Deletes targets. The newest one stays without its address, so that its number is not given to another one, to which old links would
 * lead.
 */
export async function deleteLinks(tx: Tx, tracker: { readonly links: Pick<TrackedLinks, "clear"> }, where: SQL): Promise<void> {
  const { trackedLinks: t } = tx.t;
  const [newest] = await tx.select({ id: max(t.id) }).from(t);
  const id = newest?.id ?? 0;
  await tx.delete(t).where(and(where, ne(t.id, id)));
  await tx
    .update(t)
    .set({ workspaceId: "", url: ERASED, hash: `${ERASED} ${id}`, ownerId: null })
    .where(and(where, eq(t.id, id)));
  tx.afterCommit(() => tracker.links.clear());
}

/** The targets that only these emails have. */
export async function listOwnLinks(tx: Tx, workspaceId: string, emailIds: readonly string[]): Promise<string[]> {
  const { trackedLinks: t } = tx.t;
  const urls: string[] = [];
  for (const chunk of splitIntoChunks(emailIds))
    for (const { url } of await tx
      .select({ url: t.url })
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), inArray(t.ownerId, chunk))))
      urls.push(url);
  return urls;
}

function keyOf(workspaceId: string, url: string): string {
  return `${workspaceId} ${url}`;
}

/** Inserts the targets that are not stored yet, takes those that another email has for shared, and returns all of them. */
async function storeLinks({ db }: LinkDeps, workspaceId: string, wanted: WantedLinks): Promise<[url: string, link: StoredLink][]> {
  const byHash = new Map([...wanted.keys()].map((url) => [createHash("sha256").update(url).digest("base64url"), url]));
  const find = async (): Promise<[string, StoredLink][]> => {
    const { trackedLinks: t } = db.read.t;
    const rows = await db.read
      .select({ id: t.id, hash: t.hash, ownerId: t.ownerId })
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), inArray(t.hash, [...byHash.keys()])));
    return rows.map(({ hash, ...link }) => [byHash.get(hash) as string, link]);
  };
  let found = await find();
  if (found.length < byHash.size) {
    const known = new Set(found.map(([url]) => url));
    const rows = [...byHash]
      .filter(([, url]) => !known.has(url))
      .map(([hash, url]) => ({ workspaceId, hash, url, ownerId: wanted.get(url) ?? null }));
    // Another process may store the same ones at the same time.
    await db.tx(async (tx) => void (await tx.insert(tx.t.trackedLinks).values(rows).onConflictDoNothing()));
    found = await find();
  }
  const shared = found.flatMap(([url, { id, ownerId }]) => (ownerId !== null && ownerId !== wanted.get(url) ? id : []));
  if (shared.length === 0) return found;
  await db.tx(async (tx) => {
    const { trackedLinks: t } = tx.t;
    await tx.update(t).set({ ownerId: null }).where(inArray(t.id, shared));
  });
  return find();
}
