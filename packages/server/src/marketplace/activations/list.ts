import type { Activation, ActivationStatus, Page } from "@mailsvc/sdk/contract";
import { and, desc, eq, gt, isNull, lt, lte, ne, or, type SQL } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { countQuery, ONE, type PageInput, paginateById } from "../../db/pagination.ts";
import { showActivation } from "./show.ts";

/** Activations in a state, as it counts now: where the listing has ended, so has the activation. Of a query that joins listings. */
export function statusIs({ t }: Reader, status: ActivationStatus | undefined, now: number): SQL | undefined {
  if (status === undefined) return undefined;
  const { activations: a, listings: l } = t;
  if (status === "deactivated")
    return or(eq(a.status, "deactivated"), ne(l.state, "LISTED"), ne(a.period, l.period), lte(l.expiresAt, now));
  const listed = and(eq(l.state, "LISTED"), eq(a.period, l.period), or(isNull(l.expiresAt), gt(l.expiresAt, now)));
  return and(eq(a.status, status), listed);
}

export interface ActivationFilter extends PageInput {
  status?: ActivationStatus | undefined;
  agentSlug?: string | undefined;
}

/** The agents a workspace has turned on. */
export function listActivations(read: Reader, workspaceId: string, now: number, input: ActivationFilter): Promise<Page<Activation>> {
  const { activations: a, listings: l } = read.t;
  const where = and(
    eq(a.workspaceId, workspaceId),
    input.agentSlug === undefined ? undefined : eq(l.slug, input.agentSlug),
    statusIs(read, input.status, now),
  );
  return paginateById(
    input,
    async ({ before, limit, offset }) => {
      const rows = await read
        .select({ activation: a, listing: l })
        .from(a)
        .innerJoin(l, eq(l.id, a.listingId))
        .where(and(where, before === null ? undefined : lt(a.id, before)))
        .orderBy(desc(a.id))
        .limit(limit)
        .offset(offset);
      return rows.map((row) => ({ id: row.activation.id, ...row }));
    },
    () => countQuery(read, read.select(ONE).from(a).innerJoin(l, eq(l.id, a.listingId)).where(where)),
    (found) => showActivation(found, now),
  );
}
