import type { Tracking } from "@mailsvc/sdk/contract";
import { findBodyEnd, MAIL } from "../html/body.ts";
import { decodeAttribute, serializeAttribute } from "../html/escape.ts";
import { type LocatedTag, locateTags } from "../html/tokenizer.ts";
import { waitForTurn } from "../lib/turn.ts";

/** HTML cut at its links and at the place of the pixel. The texts between are its source, unchanged. */
export interface Skeleton {
  readonly texts: readonly string[];
  /** Cuts between the texts. */
  readonly cuts: readonly Cut[];
}

export type Cut = LinkCut | { readonly kind: "pixel" };

interface LinkCut {
  readonly kind: "link";
  /** The address as a program reads it. */
  readonly url: string;
  /** The value of the attribute as it is written. */
  readonly source: string;
  /** True if the source has no quotes, so that a new value needs them. */
  readonly bare: boolean;
}

// Elements with an address that people click; the last two are buttons of Outlook.
const CLICKABLE = new Set(["a", "area", "v:rect", "v:roundrect"]);

// Longer addresses are left as they are: no browser needs them to work.
const MAX_URL = 8000;

/** Links that are rewritten in one turn of the event loop. Signing one, or adding UTM parameters, takes some µs. */
export const CUTS_PER_TURN = 1000;

// Tags that are read in one turn of the event loop: a few milliseconds.
const TAGS_PER_TURN = 8000;

/**
 * Cuts an HTML mail. Links that are no web address (mailto:, tel:, #…), or have the attribute `data-no-track`, stay in the
 * text. The pixel comes last in the body, where programs show it.
 */
export async function cutHtml(html: string): Promise<Skeleton> {
  const found: { start: number; end: number; cut: Cut }[] = [];
  const pixelAt = await findBodyEnd(html);
  let tags = 0;
  for (const tag of locateTags(html, MAIL)) {
    tags += 1;
    if (tags % TAGS_PER_TURN === 0) await waitForTurn();
    const link = findLink(html, tag);
    if (link) found.push(link);
  }
  found.push({ start: pixelAt, end: pixelAt, cut: { kind: "pixel" } });
  found.sort((a, b) => a.start - b.start);
  const texts: string[] = [];
  const cuts: Cut[] = [];
  let from = 0;
  for (const { start, end, cut } of found) {
    texts.push(html.slice(from, start));
    cuts.push(cut);
    from = end;
  }
  texts.push(html.slice(from));
  return { texts, cuts };
}

/** Puts a skeleton together again. `write` gets a cut and its index in `cuts`, and returns the text for its place. */
export async function assemble({ texts, cuts }: Skeleton, write: (cut: Cut, i: number) => string): Promise<string> {
  const pieces = [texts[0] as string];
  for (let i = 0; i < cuts.length; i += 1) {
    pieces.push(write(cuts[i] as Cut, i), texts[i + 1] as string);
    if (i % CUTS_PER_TURN === CUTS_PER_TURN - 1) await waitForTurn();
  }
  if (cuts.length > CUTS_PER_TURN) await waitForTurn();
  return pieces.join("");
}

/** The value of an attribute, as it stands in place of a link's. */
export function toAttribute(url: string, bare: boolean): string {
  const value = serializeAttribute(url).replaceAll("'", "&#39;");
  return bare ? `"${value}"` : value;
}

/** Adds UTM parameters that an address does not have yet; nothing else of it changes. */
export function addUtm(url: string, utm: NonNullable<Tracking["utm"]>): string {
  const hashAt = url.indexOf("#");
  const [address, fragment] = hashAt === -1 ? [url, ""] : [url.slice(0, hashAt), url.slice(hashAt)];
  const queryAt = address.indexOf("?");
  const present = new URLSearchParams(queryAt === -1 ? "" : address.slice(queryAt + 1));
  const added = Object.entries(utm)
    .flatMap(([name, value]) => (value === undefined || present.has(`utm_${name}`) ? [] : [`utm_${name}=${encodeURIComponent(value)}`]))
    .join("&");
  if (added === "") return url;
  const separator = queryAt === -1 ? "?" : /[?&]$/.test(address) ? "" : "&";
  return `${address}${separator}${added}${fragment}`;
}

function findLink(html: string, { token, values }: LocatedTag): { start: number; end: number; cut: Cut } | null {
  if (token.kind !== "open" || !CLICKABLE.has(token.name)) return null;
  const href = values.find(({ name }) => name === "href");
  if (href === undefined || token.attributes.some(([name]) => name === "data-no-track")) return null;
  const source = html.slice(href.start, href.end);
  const url = decodeAttribute(source).trim();
  if (url.length > MAX_URL || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return null;
  return { start: href.start, end: href.end, cut: { kind: "link", url, source, bare: href.quote === "" } };
}
