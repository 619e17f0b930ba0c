import { createHash } from "node:crypto";
import { and, eq, inArray, or } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { contains } from "../db/dialect.ts";
import { findRows } from "../db/find.ts";
import { splitIntoChunks } from "../lib/chunks.ts";
import { growingCache } from "../lib/growing-cache.ts";
import type { Macs } from "../lib/macs.ts";
import type { TrackingDeps } from "./deps.ts";

/** The path of tracked opens and clicks. */
export const OPEN_PATH = "/t/o";
export const CLICK_PATH = "/t/c";

/** What a tracking address stands for: the pixel or a link of one email. */
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

/** In place of a target that named a person who was erased. Its row stays, so that its id never stands for another target. */
const ERASED = "erased";

// The targets that most mail shares; some megabytes at most.
const MAX_CACHED = 10_000;

export interface TrackedLink {
  readonly workspaceId: string;
  readonly url: string;
}

/** Looks up a target that was loaded. */
type LinkIds = (workspaceId: string, url: string) => number;

type LinkDeps = Pick<TrackingDeps, "db">;

/** The stored targets of links, and a cache of those in use. */
export class TrackedLinks {
  readonly #ids = growingCache<string, number>(MAX_CACHED);
  readonly #links = growingCache<number, TrackedLink>(MAX_CACHED);

  /** The ids of the wanted targets, by workspace. New ones are stored durably, so that no mail leads to an unknown link. */
  async load(deps: LinkDeps, wanted: ReadonlyMap<string, ReadonlySet<string>>): Promise<LinkIds> {
    const found = new Map<string, number>();
    for (const [workspaceId, urls] of wanted) {
      const unknown: string[] = [];
      for (const url of urls) {
        const key = keyOf(workspaceId, url);
        const id = this.#ids.get(key);
        if (id === undefined) unknown.push(url);
        else found.set(key, id);
      }
      for (const chunk of splitIntoChunks(unknown))
        for (const [url, id] of await storeLinks(deps, workspaceId, chunk)) {
          found.set(keyOf(workspaceId, url), id);
          this.#remember(id, { workspaceId, url });
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
    this.#remember(id, row);
    return row;
  }

  clear(): void {
    this.#ids.clear();
    this.#links.clear();
  }

  #remember(id: number, link: TrackedLink): void {
    this.#links.set(id, link);
    this.#ids.set(keyOf(link.workspaceId, link.url), id);
  }
}

/** Erases the targets that contain one of these texts, in any case: old links to them lead nowhere. Returns how many. */
export async function eraseLinks(
  tx: Tx,
  tracker: { readonly links: TrackedLinks },
  workspaceId: string,
  texts: readonly string[],
): Promise<number> {
  const { trackedLinks: t } = tx.t;
  const rows = await tx
    .select({ id: t.id })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), or(...texts.map((text) => contains(tx.sqlDialect, t.url, text)))));
  if (rows.length === 0) return 0;
  for (const { id } of rows)
    await tx
      .update(t)
      .set({ url: ERASED, hash: `${ERASED} ${id}` })
      .where(eq(t.id, id));
  tx.afterCommit(() => tracker.links.clear());
  return rows.length;
}

function keyOf(workspaceId: string, url: string): string {
  return `${workspaceId} ${url}`;
}

/** Inserts the targets that are not stored yet, and returns all of them with their ids. */
async function storeLinks({ db }: LinkDeps, workspaceId: string, urls: readonly string[]): Promise<[url: string, id: number][]> {
  const byHash = new Map(urls.map((url) => [createHash("sha256").update(url).digest("base64url"), url]));
  const find = async (): Promise<[string, number][]> => {
    const { trackedLinks: t } = db.read.t;
    const rows = await db.read
      .select({ id: t.id, hash: t.hash })
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), inArray(t.hash, [...byHash.keys()])));
    return rows.map(({ id, hash }) => [byHash.get(hash) as string, id]);
  };
  const before = await find();
  if (before.length === byHash.size) return before;
  const known = new Set(before.map(([url]) => url));
  const rows = [...byHash].filter(([, url]) => !known.has(url)).map(([hash, url]) => ({ workspaceId, hash, url }));
  // Another process may store the same ones at the same time.
  await db.tx(async (tx) => void (await tx.insert(tx.t.trackedLinks).values(rows).onConflictDoNothing()));
  return find();
}
