// Elements that load what they name.
const LOADING = /<(?:img|video|audio|source|link)[^>]+/gi;

// Attributes of others that name a picture or a style, and styles. The lengths are bounded: a mail may be written to make each search long.
const NAMED =
  /(?:src|srcset|background|poster|href)\s{0,9}=\s{0,9}["']?\s{0,9}(?:https?:)?\/\/[^"'\s>]{1,400}\.(?:png|jpe?g|gif|webp|svg|css|avif)|url\(\s{0,9}["']?\s{0,9}(?:https?:)?\/\//i;

/**
 * True if a mail's HTML appears to load remote content. The frame's policy decides what really loads; pictures of the asset libraries of
 * this server, at `origin`, always do.
 */
export function hasRemoteContent(html: string, origin: string): boolean {
  const others = html.replaceAll(`"${origin}/a/`, '"');
  for (const [tag] of others.matchAll(LOADING)) if (tag.includes("//")) return true;
  return NAMED.test(others);
}
