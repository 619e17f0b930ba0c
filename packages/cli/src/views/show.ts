import { CliError } from "../errors.ts";
import { EXIT, type Exit } from "../exit.ts";
import type { Placed } from "../places.ts";
import type { Call } from "../request.ts";
import type { Session } from "../session.ts";
import { genericObject, genericTable, isRow } from "./generic.ts";
import { VIEWS } from "./index.ts";
import { table } from "./table.ts";

interface PageLike {
  data: unknown[];
  pagination?: { page?: number; totalPages?: number; total?: number; hasMore?: boolean; nextCursor?: string | null };
}

const isPage = (data: unknown): data is PageLike => isRow(data) && Array.isArray(data["data"]);

const rowsView = (session: Session, place: Placed, rows: readonly unknown[]): string => {
  const { out, columns } = session.term;
  const view = VIEWS[place.id];
  if (rows.length === 0) return "";
  // An answer of another version than ours is shown plainly, and not refused.
  const fits =
    view?.columns &&
    place.endpoint.output.safeParse({
      data: rows,
      pagination: { page: 1, limit: 1, total: 0, totalPages: 0, hasMore: false, nextCursor: null },
    }).success;
  return fits && view.columns ? table(rows as never[], view.columns, out, columns) : genericTable(rows, out, columns);
};

const objectView = (session: Session, place: Placed, data: unknown): string => {
  const view = VIEWS[place.id];
  const parsed = view?.object ? place.endpoint.output.safeParse(data) : undefined;
  return parsed?.success && view?.object ? view.object(parsed.data as never, session) : genericObject(data, session.term.out);
};

const footer = (session: Session, place: Placed, page: PageLike): void => {
  const { err } = session.term;
  if (page.data.length === 0) session.out.note(err.dim("Nothing here."));
  const p = page.pagination;
  if (page.data.length === 0 || !p?.hasMore) return;
  const next = `mailsvc ${place.words.join(" ")} --page ${(p.page ?? 1) + 1}`;
  session.out.note(err.dim(`Page ${p.page} of ${p.totalPages}, ${p.total} in all. Next: ${next}, or all of them: --all`));
};

/** Prints an answer: JSON for programs, a table or a list of fields for people. */
export const show = async (session: Session, place: Placed, data: unknown): Promise<void> => {
  if (!isPage(data)) {
    await session.out.data(data, () => objectView(session, place, data));
    return;
  }
  await session.out.data(data, () => rowsView(session, place, data.data));
  if (!session.out.json) footer(session, place, data);
};

/** Prints every page of a list: one JSON document per line, or one table. */
export const showAll = async (session: Session, place: Placed, call: Call): Promise<Exit> => {
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
    if (rows.length === 0) footer(session, place, { data: rows });
  }
  return EXIT.ok;
};
