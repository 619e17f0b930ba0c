import { usageError } from "../runtime/errors.ts";
import { findSimilar } from "../runtime/suggestion.ts";

/** Target of events of a type. */
interface Route {
  readonly pattern: string;
  readonly url: string;
}

/** Decides which URL gets an event: that of the most specific route for its type, else the one for all. */
export class Routes {
  readonly #routes: readonly Route[];
  readonly #fallback: string | null;

  /** `routes` as given: `email.bounced=URL`, `email.*=URL`. Throws CliError for an unknown type or what is no URL. */
  constructor(routes: readonly string[], fallback: string | undefined, types: readonly string[]) {
    this.#fallback = fallback === undefined ? null : parseTarget(fallback, "--forward-to");
    this.#routes = routes.map((text) => parseRoute(text, types)).sort((a, b) => b.pattern.length - a.pattern.length);
    if (this.#fallback === null && this.#routes.length === 0)
      throw usageError("--forward-to or --route is needed.", {
        hint: "For example: mailsvc listen --forward-to http://127.0.0.1:3000/webhook",
      });
  }

  /** Every URL that may get something. */
  get urls(): string[] {
    return [...new Set([...this.#routes.map(({ url }) => url), ...(this.#fallback === null ? [] : [this.#fallback])])];
  }

  /** Null for a type that goes nowhere. */
  findUrl(type: string): string | null {
    return this.#routes.find(({ pattern }) => matchesPattern(pattern, type))?.url ?? this.#fallback;
  }
}

/** True if a pattern (a type, `email.*` or `*`) matches a type. */
export function matchesPattern(pattern: string, type: string): boolean {
  return pattern === "*" || pattern === type || (pattern.endsWith(".*") && type.startsWith(pattern.slice(0, -1)));
}

/** The patterns of --type, with commas between them; null without it. Throws CliError for one that no type matches. */
export function readPatterns(text: string | undefined, types: readonly string[]): readonly string[] | null {
  if (text === undefined) return null;
  const patterns = text.split(",").map((pattern) => pattern.trim());
  for (const pattern of patterns) assertPattern(pattern, types, "--type");
  return patterns;
}

/** Throws CliError that names similar types. */
function assertPattern(pattern: string, types: readonly string[], flag: string): void {
  if (types.some((type) => matchesPattern(pattern, type))) return;
  const similar = findSimilar(pattern, types);
  throw usageError(`${flag}: there is no event type ${JSON.stringify(pattern)}.`, {
    hint: similar.length > 0 ? `Did you mean ${similar.join(" or ")}?` : `The types are ${types.join(", ")}.`,
  });
}

function parseRoute(text: string, types: readonly string[]): Route {
  const at = text.indexOf("=");
  if (at < 1)
    throw usageError(`--route: write TYPE=URL, not ${JSON.stringify(text)}.`, {
      hint: "For example: --route email.bounced=http://127.0.0.1:3000/bounces",
    });
  const pattern = text.slice(0, at);
  assertPattern(pattern, types, "--route");
  return { pattern, url: parseTarget(text.slice(at + 1), "--route") };
}

/** A URL; `3000/webhook` and `localhost:3000` are taken for http on this machine. */
export function parseTarget(text: string, flag: string): string {
  const full = /^https?:\/\//.test(text) ? text : `http://${/^:?\d+(?:\/|$)/.test(text) ? `127.0.0.1:${text.replace(/^:/, "")}` : text}`;
  // Otherwise ftp://host would be taken for a host called ftp.
  const isOther = /^[a-z][a-z\d+.-]*:\/\//i.test(text) && full !== text;
  if (isOther || !URL.canParse(full))
    throw usageError(`${flag}: ${JSON.stringify(text)} is not an http URL.`, { hint: "For example: http://127.0.0.1:3000/webhook" });
  const { href, port, username, password } = new URL(full);
  if (username !== "" || password !== "")
    throw usageError(`${flag}: the URL of a webhook has no user name or password.`, { hint: "Requests are signed instead." });
  if (port === "0") throw usageError(`${flag}: nothing can listen at port 0.`, { hint: "For example: http://127.0.0.1:3000/webhook" });
  return href;
}
