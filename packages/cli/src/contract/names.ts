import { contract, type Endpoint } from "@mailsvc/sdk/contract";
import { CliError, hasStatus, usageError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import { buildCall, shellQuote } from "../runtime/request.ts";
import type { Session } from "../types.ts";
import { findNearest } from "./values.ts";

/** Objects that people know by their own name: where to list them, and which field is the name. */
interface NamedNoun {
  /** Word for the name, for help and messages. */
  label: string;
  list: Endpoint;
  /** Narrows the list to candidates for `name`; the whole list is read where it cannot. */
  query(name: string): Readonly<Record<string, string>>;
  /** Further query for names missing from this list, and for similar ones. */
  otherwise?: Readonly<Record<string, string>>;
  name(row: Row): unknown;
}
type Row = Readonly<Record<string, unknown>>;

const NAMED: Readonly<Record<string, NamedNoun>> = {
  contacts: { label: "address", list: contract.contacts.list, query: (search) => ({ search }), name: (row) => row["email"] },
  templates: { label: "slug", list: contract.templates.list, query: () => ({}), name: (row) => row["slug"] },
  lists: { label: "name", list: contract.lists.list, query: (search) => ({ search }), otherwise: {}, name: (row) => row["name"] },
  segments: { label: "name", list: contract.segments.list, query: (search) => ({ search }), otherwise: {}, name: (row) => row["name"] },
  campaigns: { label: "name", list: contract.campaigns.list, query: () => ({}), name: (row) => row["name"] },
  automations: {
    label: "name",
    list: contract.automations.list,
    query: () => ({}),
    otherwise: { archived: "true" },
    name: (row) => row["name"],
  },
  senders: { label: "address or domain", list: contract.senders.list, query: () => ({}), name: (row) => row["value"] },
  keys: { label: "name", list: contract.keys.list, query: () => ({ revoked: "false" }), name: (row) => row["name"] },
};

/** Emails have no name that one could give for an id: their subjects only explain the ids. */
const EMAILS: NamedNoun = {
  label: "subject",
  list: contract.emails.list,
  query: () => ({}),
  name: (row) => `${String(row["to"])} ${String(row["subject"])}`,
};

const ID = /^[a-z]+_[0-9a-hjkmnp-tv-z]{26}$/;
const PAGE = 100;
// Names beyond this are not compared with a misspelt one.
const MAX_COMPARED = 1000;
// More names than this do not fit on a screen of suggestions.
const MAX_SUGGESTIONS = 50;
const SUGGESTION_TIMEOUT_MS = 1500;

/** The noun whose id is the first parameter of a path: `lists` for `/api/v1/lists/:id/contacts`. */
function findNoun(path: string): NamedNoun | null {
  const [, noun = ""] = /^\/api\/v1\/([a-z-]+)\/:id(?:\/|$)/.exec(path) ?? [];
  return NAMED[noun] ?? null;
}

/** Word for the name that can replace the `<id>` of a path; undefined when only ids are accepted. */
export function describeName(path: string): string | undefined {
  return findNoun(path)?.label;
}

/**
 * Replaces a name given as `<id>` by its id: an address, slug or name. Anything unknown is left for the server to refuse.
 * Throws CliError, exit 2, when several objects have that name, and exit 6 with the name that was probably meant.
 */
export async function resolveNames(session: Session, { path }: Endpoint, ids: readonly string[]): Promise<readonly string[]> {
  const [given, ...rest] = ids;
  const noun = findNoun(path);
  if (!noun || given === undefined || ID.test(given) || session.globals.dryRun) return ids;
  const others = new Set<string>();
  const listed = await findByName(session, noun, given, noun.query(given), others);
  const found = listed.length === 0 && noun.otherwise ? await findByName(session, noun, given, noun.otherwise, others) : listed;
  if (found.length === 0) refuseMisspelt(noun, given, others);
  if (found.length > 1)
    throw usageError(`"${given}" is the ${noun.label} of ${found.length} objects.`, { hint: `Use an id: ${found.join(", ")}.` });
  return [found[0] ?? given, ...rest];
}

/** Names that start with `prefix`, for completion. Empty when the server does not answer quickly. */
export async function suggestNames(session: Session, path: string, prefix: string): Promise<{ value: string; about: string }[]> {
  const noun = findNoun(path) ?? (path.startsWith("/api/v1/emails/:id") ? EMAILS : null);
  if (!noun) return [];
  try {
    const query = { limit: MAX_SUGGESTIONS, ...(prefix === "" ? {} : noun.query(prefix)) };
    const call = { ...buildCall(noun.list, [], query, undefined), timeoutMs: SUGGESTION_TIMEOUT_MS, retries: 0 };
    const { data } = (await session.send(call)).data as { data: Row[] };
    return data.map((row) => {
      const [id, name] = [String(row["id"]), String(noun.name(row))];
      // A shell would split a name with spaces into words.
      return /^[^\s'"\\$`]+$/.test(name) ? { value: name, about: id } : { value: id, about: name };
    });
  } catch {
    return [];
  }
}

/** Throws CliError, exit 6, when one of the names is so similar that it was probably meant. */
function refuseMisspelt({ label }: NamedNoun, given: string, names: ReadonlySet<string>): void {
  const meant = findNearest(given, [...names]);
  if (meant === null) return;
  throw new CliError({
    code: "not_found",
    message: `Nothing has the ${label} "${given}".`,
    exit: EXIT.notFound,
    hint: `Did you mean ${shellQuote(meant)}?`,
  });
}

/** The ids of the objects with this name; adds the names of the others that were looked at to `others`. */
async function findByName(
  session: Session,
  noun: NamedNoun,
  name: string,
  narrow: Readonly<Record<string, string>>,
  others: Set<string>,
): Promise<string[]> {
  const wanted = name.toLowerCase();
  const found: string[] = [];
  const seen = new Set<string>();
  try {
    for (let cursor: string | undefined; ; ) {
      const query = { limit: PAGE, ...narrow, ...(cursor === undefined ? {} : { cursor }) };
      const { data } = (await session.send(buildCall(noun.list, [], query, undefined))) as {
        data: { data: Row[]; pagination: { nextCursor?: string | null } };
      };
      for (const row of data.data) {
        const its = String(noun.name(row));
        if (its.toLowerCase() === wanted) found.push(String(row["id"]));
        else if (others.size < MAX_COMPARED) others.add(its);
      }
      cursor = data.pagination.nextCursor ?? undefined;
      if (cursor === undefined || seen.has(cursor)) return found;
      seen.add(cursor);
    }
  } catch (error) {
    // A key that may not list, or a name that no search takes: the server judges what was given.
    if (hasStatus(error, 400) || hasStatus(error, 403)) return [];
    throw error;
  }
}
