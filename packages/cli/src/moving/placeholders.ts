/** Text of a template in the syntax of mailsvc, or the part that has no counterpart. */
interface Converted {
  readonly text: string;
  readonly obstacle: string | null;
}

/** Writes each placeholder that `pattern` finds as `write` says; null means that it has no counterpart. */
export function convert(text: string, pattern: RegExp, write: (inside: string) => string | null): Converted {
  let obstacle: string | null = null;
  const converted = text.replace(pattern, (whole: string, inside: string) => {
    const written = write(inside.trim());
    if (written === null) obstacle ??= whole;
    return written ?? whole;
  });
  return { text: converted, obstacle };
}

/** A slug of a name; the key where the name has no letter of one. */
export function makeSlug(name: string, key: string): string {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 60)
    .replace(/-+$/, "");
  return slug === "" || slug === "batch" ? `template-${key.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}` : slug;
}

/** First and last name of a whole one. */
export function splitName(name: string): { firstName?: string; lastName?: string } {
  const [first = "", ...others] = name.trim().split(/\s+/u);
  return { ...(first === "" ? {} : { firstName: first }), ...(others.length === 0 ? {} : { lastName: others.join(" ") }) };
}
