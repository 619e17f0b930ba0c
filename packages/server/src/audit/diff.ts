import { AUDIT_LIMITS, type AuditChange } from "@mailsvc/sdk/contract";

type Fields = Readonly<Record<string, unknown>>;

/** Names of fields that hold a secret, or what is worth one. */
const SECRET = /secret|token|passw|credential|^key$|apiKey|privateKey|authorization|hash|signature/i;

// Fields that follow from any change, or change by themselves.
const VOLATILE = new Set(["updatedAt", "createdAt", "revision", "lastUsedAt", "memberCount", "pendingCount", "usedBy", "stats"]);

/**
 * Changes between two states of an object: of the fields in `named`, or of all without it. A field that `before` and `after` do not have is
 * left out, so that what a request sends and nobody can read, such as a password, is never kept.
 */
export function listChanges(before: Fields | null, after: Fields | null, named: ReadonlySet<string> | null): AuditChange[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names
    .filter((field) => !VOLATILE.has(field) && !SECRET.test(field) && (named === null || named.has(field)))
    .map((field) => ({ field, before: keep(before?.[field]), after: keep(after?.[field]) }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.after))
    .slice(0, AUDIT_LIMITS.fields);
}

/** A value as it is kept: without secrets, and cut where it is long. */
function keep(value: unknown): unknown {
  const safe = withoutSecrets(value ?? null);
  const json = JSON.stringify(safe);
  if (json.length <= AUDIT_LIMITS.value) return safe;
  const text = typeof safe === "string" ? safe : json;
  // A pair of surrogates is not cut in two.
  return `${text
    .slice(0, AUDIT_LIMITS.value)
    .toWellFormed()
    .replace(/\uFFFD$/, "")}… (${text.length} characters)`;
}

function withoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return withoutQuery(value);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, inner]) => (SECRET.test(name) ? [] : [[name, withoutSecrets(inner)]])));
}

/** An address without the parts that may open something: the login, and the query. */
function withoutQuery(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.username === "" && url.password === "" && url.search === "") return text;
  return `${url.protocol}//${url.host}${url.pathname}${url.search === "" ? "" : "?…"}`;
}
