/** The tags of a record such as `v=DMARC1; p=none`, names in lower case, in their order; of a name that is there twice the first. */
export function parseTags(text: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const part of text.split(";")) {
    const at = part.indexOf("=");
    const name = part.slice(0, at).trim().toLowerCase();
    if (at > 0 && name !== "" && !tags.has(name)) tags.set(name, part.slice(at + 1).trim());
  }
  return tags;
}

/** A record of these tags. */
export function formatTags(tags: Iterable<readonly [string, string]>): string {
  return [...tags].map(([name, value]) => `${name}=${value}`).join("; ");
}

/** A foreign text, short enough for a message. */
export function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
