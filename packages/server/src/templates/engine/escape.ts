const SPECIAL = /[&<>"'`=]/;
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#x27;",
  "`": "&#x60;",
  "=": "&#x3D;",
};

/** A text that stays a text in HTML, between tags and in quoted attributes. Most texts hold nothing special. */
export const escapeHtml = (text: string): string => (SPECIAL.test(text) ? text.replace(/[&<>"'`=]/g, (c) => ENTITIES[c] as string) : text);

// Clients strip these before they read the scheme of an address.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what is looked for
const IGNORED = /[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202f\ufeff]/g;
const SAFE = /^(?:https?|mailto|tel|sms|cid|ftp):|^data:image\/(?:png|gif|jpe?g|webp)[;,]/i;

/** Whether an address may be followed from a mail: no scheme, or one that runs nothing. */
export const isSafeUrl = (url: string): boolean => {
  const bare = url.slice(0, 200).replace(IGNORED, "");
  const scheme = /^[^/?#]*?:/.exec(bare);
  return scheme === null || SAFE.test(bare);
};
