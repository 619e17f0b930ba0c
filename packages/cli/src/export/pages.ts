import type { Pagination } from "@mailsvc/sdk/contract";
import { CliError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import { formatNumber } from "../text/units.ts";
import type { Call, Session } from "../types.ts";

/** A page of a list. */
export interface ListPage<T> {
  readonly data: readonly T[];
  readonly pagination: Pagination;
}

/**
 * Fetches every page of a list and shows how far it is; `what` names its items. `first` is the first page, if it is there already. Throws
 * CliError when the server repeats a cursor.
 */
export async function* fetchPages<T>(session: Session, call: Call, what: string, first?: ListPage<T>): AsyncGenerator<readonly T[]> {
  const progress = session.progress("Exporting");
  const seen = new Set<string>();
  let done = 0;
  try {
    for (let { query } = call, page = first; ; page = undefined) {
      const { data, pagination } = page ?? ((await session.send({ ...call, query })).data as ListPage<T>);
      done += data.length;
      progress.update(`Exporting, ${formatNumber(done)} of ${formatNumber(Math.max(done, pagination.total))} ${what}`);
      yield data;
      const cursor = pagination.nextCursor;
      if (!cursor) return;
      if (seen.has(cursor)) throw new CliError({ code: "list_loops", message: "The list repeats its pages.", exit: EXIT.server });
      seen.add(cursor);
      query = { ...query, cursor };
    }
  } finally {
    progress.stop();
  }
}
