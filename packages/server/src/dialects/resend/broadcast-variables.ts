// Variables of broadcasts, in three braces: {{{FIRST_NAME|there}}}, {{{contact.plan}}}. A fallback may contain braces, except three
// opening ones.
const VARIABLE = /\{\{\{\s*([A-Za-z_][\w.]*)\s*(?:\|((?:(?!\{\{\{)[\s\S])*?))?\}\}\}(?!\})/g;

const OWN_NAMES: Readonly<Record<string, string>> = {
  FIRST_NAME: "firstName",
  LAST_NAME: "lastName",
  EMAIL: "email",
  RESEND_UNSUBSCRIBE_URL: "unsubscribeUrl",
  "contact.first_name": "firstName",
  "contact.last_name": "lastName",
  "contact.email": "email",
};

/**
 * A text of a broadcast with the variables of our templates, where two braces escape a value in HTML, as three do there. A property without
 * a fallback gets the one that it was declared with.
 */
export function toOwnVariables(source: string, declared: ReadonlyMap<string, string | number> = new Map()): string {
  return source.replace(VARIABLE, (found: string, name: string, given: string | undefined) => {
    const own = findOwnName(name);
    if (own === null) return found;
    const fallback = given || String(declared.get(own) ?? "");
    return fallback ? `{{default ${own} ${quote(fallback)}}}` : `{{${own}}}`;
  });
}

function findOwnName(name: string): string | null {
  if (Object.hasOwn(OWN_NAMES, name)) return OWN_NAMES[name] ?? null;
  // Properties of contacts are custom fields.
  const [, property = null] = /^contact\.(\w+)$/.exec(name) ?? [];
  return property;
}

/** A text as a literal of our templates. One that ends with a backslash would escape the quote behind it, so a blank follows. */
function quote(text: string): string {
  const escaped = text.trim().replaceAll('"', '\\"');
  return `"${escaped}${escaped.endsWith("\\") ? " " : ""}"`;
}
