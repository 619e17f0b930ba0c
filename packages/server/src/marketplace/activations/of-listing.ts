import type { ActivationStatus, ListingActivation, Page } from "@mailsvc/sdk/contract";
import { and, desc, eq, lt } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { countQuery, ONE, type PageInput, paginateById } from "../../db/pagination.ts";
import type { ListingRow } from "../listings/store.ts";
import { statusIs } from "./list.ts";
import { showToBuilder } from "./show.ts";

/** Who has turned an agent on: the builder's Activations tab. */
export function listingActivations(
  read: Reader,
  listing: ListingRow,
  now: number,
  input: PageInput & { status?: ActivationStatus | undefined },
): Promise<Page<ListingActivation>> {
  const { activations: a, listings: l, workspaces: w } = read.t;
  const where = and(eq(a.listingId, listing.id), statusIs(read, input.status, now));
  return paginateById(
    input,
    async ({ before, limit, offset }) => {
      const rows = await read
        .select({ activation: a, organizationName: w.name })
        .from(a)
        .innerJoin(l, eq(l.id, a.listingId))
        .innerJoin(w, eq(w.id, a.workspaceId))
        .where(and(where, before === null ? undefined : lt(a.id, before)))
        .orderBy(desc(a.id))
        .limit(limit)
        .offset(offset);
      return rows.map((row) => ({ id: row.activation.id, ...row }));
    },
    () => countQuery(read, read.select(ONE).from(a).innerJoin(l, eq(l.id, a.listingId)).where(where)),
    ({ activation, organizationName }) => showToBuilder({ activation, listing }, organizationName, now),
  );
}
