import { decodeAttribute } from "./escape.ts";

const FRAGMENT = /^#[A-Za-z][\w-]{0,60}$/;

// Mail programs drop these characters before they read the scheme of an address.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to drop
const IGNORED = /[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202f\ufeff]/g;
const SAFE_SCHEME = /^(?:https?|mailto|tel|sms|cid|ftp):|^data:image\/(?:png|gif|jpe?g|webp)[;,]/i;

/** Attributes whose value is an address that a browser loads or follows. */
export const URL_ATTRIBUTES: ReadonlySet<string> = new Set(
  "href src action formaction background poster cite xlink:href data lowsrc dynsrc longdesc codebase".split(" "),
);

/** The path of an image of an asset library on this server. */
export function assetPath(id: string): string {
  return `/a/${id}`;
}

/** True if a mail may link to an address: it has no scheme, or one that runs nothing. */
export function isSafeUrl(url: string): boolean {
  const bare = withoutIgnored(url);
  return !/^[^/?#]*?:/.test(bare) || SAFE_SCHEME.test(bare);
}

/** Stands for a value not known yet in what `urlPrefixSafety` is given. */
export const UNKNOWN = "\u0000";

/**
 * Tells if an address that begins with `prefix` (HTML, with UNKNOWN in place of values) can still get a scheme that runs code: `safe` when
 * its scheme is harmless or none can follow, `unsafe` when its scheme is not allowed or comes from a value, `open` when the rest decides.
 */
export function urlPrefixSafety(prefix: string): "safe" | "unsafe" | "open" {
  const [known = "", ...values] = prefix.split(UNKNOWN).map((part) => withoutIgnored(decodeAttribute(part)));
  const bare = [known, ...values].join(UNKNOWN);
  if (bare.length > 200) return "safe";
  const end = bare.search(/[:/?#]/);
  if (values.length === 0) {
    if (end === -1) return "open";
    return bare[end] !== ":" || SAFE_SCHEME.test(bare) ? "safe" : "unsafe";
  }
  const scheme = end === -1 ? bare : bare.slice(0, end);
  // A character no scheme has: from here on there is only a path.
  if (/[^A-Za-z0-9+.\-\0]/.test(scheme)) return "safe";
  return end === -1 ? "open" : bare[end] === ":" ? "unsafe" : "safe";
}

/** An id of a page of an agent: with a prefix, so that it is never one of ours. */
export function prefixedId(id: string): string | null {
  return /^[A-Za-z][\w-]{0,60}$/.test(id) ? (id.startsWith("c-") ? id : `c-${id}`) : null;
}

/** An address a page may link to, in its normal form; null for all others. */
export function linkTarget(value: string): string | null {
  const text = trimUrl(value);
  if (FRAGMENT.test(text)) return `#${prefixedId(text.slice(1))}`;
  if (text.length > 2048 || !/^(?:https?:\/\/|mailto:|tel:)/i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  // A name before the host looks like a host: https://bank.example@elsewhere.example
  if (url.username !== "" || url.password !== "") return null;
  return ["https:", "http:", "mailto:", "tel:"].includes(url.protocol) ? url.href : null;
}

/** The id of the asset an image shows, by its path or whole address; null for every other address. */
export function findAssetId(value: string, origins: readonly string[]): string | null {
  const text = trimUrl(value);
  const origin = origins.find((one) => text.startsWith(`${one}/a/`)) ?? "";
  return /^\/a\/(ast_[0-9a-z]{26})$/.exec(text.slice(origin.length))?.[1] ?? null;
}

function withoutIgnored(url: string): string {
  return url.replace(IGNORED, "");
}

/** Removes what browsers remove before they parse an address. */
function trimUrl(value: string): string {
  return value.replace(/[\t\n\r]/g, "").replace(/^[\p{Cc} ]+|[\p{Cc} ]+$/gu, "");
}
