import { CliError } from "../errors.ts";
import { commandLine } from "../examples.ts";
import { EXIT, type Exit } from "../exit.ts";
import { fieldsOf } from "../fields.ts";
import { type Placed, paramsIn } from "../places.ts";
import type { Call } from "../request.ts";
import { safeText } from "../safe-text.ts";
import type { Session } from "../session.ts";
import { genericObject, genericTable, isRow } from "./generic.ts";
import { VIEWS, type View } from "./index.ts";
import { table } from "./table.ts";

interface PageLike {
  data: unknown[];
  pagination?: { page?: number; totalPages?: number; total?: number; hasMore?: boolean; nextCursor?: string | null };
}

const PAGING: ReadonlySet<string> = new Set(["page", "limit", "cursor"]);

/** Prints an answer: JSON for programs, a table or a list of fields for people. */
export async function show(session: Session, place: Placed, data: unknown): Promise<void> {
  if (!isPage(data)) {
    await session.out.data(data, () => objectView(session, place, data));
    return;
  }
  await session.out.data(data, () => rowsView(session, place, data.data));
  if (!session.out.json) footer(session, place, data);
}

/** Prints every page of a list: one JSON document per line, or one table. */
export async function showAll(session: Session, place: Placed, call: Call): Promise<Exit> {
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
      progress.say(`Reading the list, ${rows.length} so far`);
      // A server that leads round in circles would keep us busy for ever.
      if (seen.has(cursor)) throw new CliError({ code: "list_loops", message: "The list leads back to where it was.", exit: EXIT.server });
      seen.add(cursor);
      const { page: _page, ...rest } = query;
      query = { ...rest, cursor };
    }
  } finally {
    progress.stop();
  }
  if (!out.json) {
    await out.data(rows, () => rowsView(session, place, rows));
    footer(session, place, { data: rows });
  }
  return EXIT.ok;
}

function isPage(data: unknown): data is PageLike {
  return isRow(data) && Array.isArray(data["data"]);
}

/** The view of a list, unless its rows are of another version than ours: those are shown plainly, and not refused. */
function viewOf(place: Placed, rows: readonly unknown[]): View | undefined {
  const view = VIEWS[place.id];
  if (!view?.columns) return undefined;
  const pagination = { page: 1, limit: 1, total: 0, totalPages: 0, hasMore: false, nextCursor: null };
  return place.endpoint.output.safeParse({ data: rows, pagination }).success ? view : undefined;
}

function rowsView(session: Session, place: Placed, rows: readonly unknown[]): string {
  const { out, columns } = session.term;
  if (rows.length === 0) return "";
  const view = viewOf(place, rows);
  return view?.columns ? table(rows as never[], view.columns, out, columns) : genericTable(rows, out, columns);
}

function objectView(session: Session, place: Placed, data: unknown): string {
  const view = VIEWS[place.id];
  const parsed = view?.object ? place.endpoint.output.safeParse(data) : undefined;
  return parsed?.success && view?.object ? view.object(parsed.data as never, session) : genericObject(data, session.term.out);
}

function nothing(session: Session, place: Placed): string {
  const query = session.lastCall?.query ?? {};
  if (Object.keys(query).some((name) => !PAGING.has(name))) return "Nothing matches.";
  return Number(query["page"] ?? 1) > 1 ? "Nothing on this page." : (VIEWS[place.id]?.empty ?? "Nothing here.");
}

function footer(session: Session, place: Placed, page: PageLike): void {
  const { err } = session.term;
  if (page.data.length === 0) {
    session.out.note(err.dim(nothing(session, place)));
    return;
  }
  const p = page.pagination;
  if (p?.hasMore) {
    const { cursor: _cursor, ...query } = session.lastCall?.query ?? {};
    const params = paramsIn(place.endpoint, session.lastCall);
    const more = { summary: "", params, query: { ...query, page: (p.page ?? 1) + 1 } };
    const next = safeText(commandLine(place, fieldsOf(place.endpoint), more));
    session.out.note(err.dim(`Page ${p.page} of ${p.totalPages}, ${p.total} in all. Next: ${next}, or all of them: --all`));
  }
  const next = viewOf(place, page.data)?.next?.(page.data as never[], session);
  if (next !== undefined) session.out.note(`${err.dim("next")}  ${err.cyan(safeText(next))}`);
}
