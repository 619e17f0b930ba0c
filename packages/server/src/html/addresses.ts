const FRAGMENT = /^#[A-Za-z][\w-]{0,60}$/;

/** An id as it stands on a page: with a mark of its own, so that it never is one of ours. */
export function ownId(id: string): string | null {
  return /^[A-Za-z][\w-]{0,60}$/.test(id) ? (id.startsWith("c-") ? id : `c-${id}`) : null;
}

/** An address people may be led to, in the one form it is written in; null for all others. */
export function linkTarget(value: string): string | null {
  const text = cleaned(value);
  if (FRAGMENT.test(text)) return `#${ownId(text.slice(1))}`;
  if (text.length > 2048 || !/^(?:https?:\/\/|mailto:|tel:)/i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  // A name before the host looks like a host: https://bank.example@elsewhere.example
  if (url.username !== "" || url.password !== "") return null;
  return ["https:", "http:", "mailto:", "tel:"].includes(url.protocol) ? url.href : null;
}

/** The asset an image points to, by its path or its whole address; null for every other place. */
export function assetOf(value: string, origins: readonly string[]): string | null {
  const text = cleaned(value);
  const origin = origins.find((one) => text.startsWith(`${one}/a/`)) ?? "";
  return /^\/a\/(ast_[0-9a-z]{26})$/.exec(text.slice(origin.length))?.[1] ?? null;
}

/** What browsers take away before they read an address. */
function cleaned(value: string): string {
  return value.replace(/[\t\n\r]/g, "").replace(/^[\p{Cc} ]+|[\p{Cc} ]+$/gu, "");
}
