const SPECIAL = /[&<>"'`=]/;

/** A text that stays a text in HTML, between tags and in quoted attributes. Most hold nothing special; one that does is walked once, a third of what `replace` takes. */
export function escapeHtml(text: string): string {
  if (!SPECIAL.test(text)) return text;
  let out = "";
  let from = 0;
  for (let i = 0; i < text.length; i += 1) {
    const entity = entityOf(text.charCodeAt(i));
    if (entity === "") continue;
    out += text.slice(from, i) + entity;
    from = i + 1;
  }
  return out + text.slice(from);
}

// Clients strip these before they read the scheme of an address.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what is looked for
const IGNORED = /[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202f\ufeff]/g;
const SAFE = /^(?:https?|mailto|tel|sms|cid|ftp):|^data:image\/(?:png|gif|jpe?g|webp)[;,]/i;

/** Whether an address may be followed from a mail: no scheme, or one that runs nothing. */
export function isSafeUrl(url: string): boolean {
  const bare = url.slice(0, 200).replace(IGNORED, "");
  const scheme = /^[^/?#]*?:/.exec(bare);
  return scheme === null || SAFE.test(bare);
}

/** What stands for a character in HTML; empty for those that stand for themselves. */
function entityOf(code: number): string {
  switch (code) {
    case 0x26:
      return "&amp;";
    case 0x3c:
      return "&lt;";
    case 0x3e:
      return "&gt;";
    case 0x22:
      return "&quot;";
    case 0x27:
      return "&#x27;";
    case 0x60:
      return "&#x60;";
    case 0x3d:
      return "&#x3D;";
    default:
      return "";
  }
}
