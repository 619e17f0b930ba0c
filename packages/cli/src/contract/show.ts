import { CliError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { parsePathParams } from "../runtime/request.ts";
import { genericObject, genericTable, isRecord } from "../text/generic.ts";
import { safeText } from "../text/safe-text.ts";
import { renderTable } from "../text/table.ts";
import type { Call, CommandSpec, Session } from "../types.ts";
import { VIEWS } from "../views/index.ts";
import type { View } from "../views/view.ts";
import { formatCommandLine } from "./examples.ts";
import { listFields } from "./fields.ts";

interface PageLike {
  data: unknown[];
  pagination?: {
    page?: number;
    totalPages?: number;
    total?: number;
    totalIsMinimum?: true;
    examined?: number;
    hasMore?: boolean;
    nextCursor?: string | null;
  };
}

const PAGING: ReadonlySet<string> = new Set(["page", "limit", "cursor"]);

/** Prints a response: JSON for programs, a table or a list of fields for people. */
export async function printResult(session: Session, spec: CommandSpec, data: unknown): Promise<void> {
  if (!isPage(data)) {
    await session.out.data(data, () => objectView(session, spec, data));
    return;
  }
  const page = await findRows(session, data);
  await session.out.data(page, () => rowsView(session, spec, page.data));
  if (!session.out.json) footer(session, spec, page);
}

/** The first page with rows from `page` on, or the last one: where a filter has no index, pages may be empty before the end of a list. */
async function findRows(session: Session, page: PageLike): Promise<PageLike> {
  const call = session.lastCall;
  const progress = session.progress("Looking for the first match");
  let [found, examined] = [page, page.pagination?.examined ?? 0];
  try {
    while (found.data.length === 0 && found.pagination?.hasMore && found.pagination.nextCursor && call) {
      progress.update(`Looked at ${examined.toLocaleString("en-US")}, going on`);
      const { page: _page, ...query } = call.query ?? {};
      const { data } = await session.send({ ...call, query: { ...query, cursor: found.pagination.nextCursor } });
      if (!isPage(data)) break;
      found = data;
      examined += data.pagination?.examined ?? 0;
    }
  } finally {
    progress.stop();
  }
  return found;
}

/** Prints every page of a list: one JSON document per line, or one table. */
export async function printAllPages(session: Session, spec: CommandSpec, call: Call): Promise<Exit> {
  const { out } = session;
  const rows: unknown[] = [];
  const progress = session.progress("Reading the list");
  try {
    const seen = new Set<string>();
    for (let query: Call["query"] = { limit: 100, ...call.query }; ; ) {
      const { data } = await session.send({ ...call, query });
      if (!isPage(data)) break;
      for (const row of data.data) {
        if (out.json) await out.line(row);
        else rows.push(row);
      }
      const cursor = data.pagination?.nextCursor;
      if (!cursor || !data.pagination?.hasMore) break;
      progress.update(`Reading the list, ${rows.length} so far`);
      // A faulty server could return the same cursor for ever.
      if (seen.has(cursor)) throw new CliError({ code: "list_loops", message: "The list repeats its pages.", exit: EXIT.server });
      seen.add(cursor);
      const { page: _page, ...rest } = query;
      query = { ...rest, cursor };
    }
  } finally {
    progress.stop();
  }
  if (!out.json) {
    await out.data(rows, () => rowsView(session, spec, rows));
    footer(session, spec, { data: rows });
  }
  return EXIT.ok;
}

/** A response that is one object, as text for people. */
export function renderResult(session: Session, spec: CommandSpec, data: unknown): string {
  return objectView(session, spec, data);
}

function isPage(data: unknown): data is PageLike {
  return isRecord(data) && Array.isArray(data["data"]);
}

/** The view of a list; undefined when its rows do not match our version of the contract, which are then shown generically. */
function findView(spec: CommandSpec, rows: readonly unknown[]): View | null {
  const view = VIEWS[spec.id];
  if (!view?.columns) return null;
  const pagination = { page: 1, limit: 1, total: 0, totalPages: 0, hasMore: false, nextCursor: null };
  return spec.endpoint.output.safeParse({ data: rows, pagination }).success ? view : null;
}

function rowsView(session: Session, spec: CommandSpec, rows: readonly unknown[]): string {
  const { out, columns } = session.term;
  if (rows.length === 0) return "";
  const view = findView(spec, rows);
  return view?.columns ? renderTable(rows as never[], view.columns, out, columns) : genericTable(rows, out, columns);
}

function objectView(session: Session, spec: CommandSpec, data: unknown): string {
  const view = VIEWS[spec.id];
  const parsed = view?.object ? spec.endpoint.output.safeParse(data) : undefined;
  return parsed?.success && view?.object ? view.object(parsed.data as never, session) : genericObject(data, session.term.out);
}

function describeEmpty(session: Session, spec: CommandSpec): string {
  const query = session.lastCall?.query ?? {};
  if (Object.keys(query).some((name) => !PAGING.has(name))) return "No matches.";
  return Number(query["page"] ?? 1) > 1 ? "This page is empty." : (VIEWS[spec.id]?.empty ?? "No entries.");
}

function footer(session: Session, spec: CommandSpec, page: PageLike): void {
  const { err } = session.term;
  if (page.data.length === 0) {
    session.out.note(err.dim(describeEmpty(session, spec)));
    return;
  }
  const p = page.pagination;
  if (p?.hasMore) {
    const { cursor: _cursor, ...query } = session.lastCall?.query ?? {};
    const params = parsePathParams(spec.endpoint, session.lastCall);
    // Pages have no numbers while the number of matches is unknown.
    const more = p.totalIsMinimum ? "+" : "";
    const isSearched = p.examined !== undefined && p.nextCursor;
    const { page: _page, ...filters } = query;
    const place = isSearched ? { ...filters, cursor: p.nextCursor } : { ...query, page: (p.page ?? 1) + 1 };
    const next = safeText(formatCommandLine(spec, listFields(spec.endpoint), { summary: "", params, query: place }));
    const where = isSearched
      ? `More may follow, after ${p.examined} that were looked at.`
      : `Page ${p.page} of ${p.totalPages}${more}, ${p.total?.toLocaleString("en-US")}${more} in total.`;
    session.out.note(err.dim(`${where} Next: ${next}, or all pages: --all`));
  }
  const next = findView(spec, page.data)?.next?.(page.data as never[], session);
  if (next !== undefined) session.out.note(`${err.dim("next")}  ${err.cyan(safeText(next))}`);
}
