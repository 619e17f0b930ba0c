import { and, eq, ne } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { UniqueViolation } from "../db/errors.ts";
import { ApiError } from "../lib/api-error.ts";
import type { SenderRow } from "./senders.ts";
import { IS_VERIFIED_DOMAIN } from "./tables.ts";

/*
 * A domain is verified in one workspace, whose owner decides who sends from it. So no other workspace verifies the domain, nor an address
 * of it. A subdomain is another domain: whoever controls its DNS records may verify it. An address that was confirmed before another
 * workspace proved its domain stays verified, because its owner confirmed it.
 */

type Wanted = Pick<SenderRow, "workspaceId" | "kind" | "value">;

/** Throws ApiError conflict if the domain of a sender is verified in another workspace, which it does not name. */
export async function assertFree(q: Tx | Reader, sender: Wanted): Promise<void> {
  const fault = await findRival(q, sender);
  if (fault !== null) throw takenByOther(fault);
}

/** Returns the reason a sender cannot be verified: its domain is verified in another workspace. Null if it is not. */
export async function findRival(q: Tx | Reader, { workspaceId, value }: Wanted): Promise<string | null> {
  const { senders: t } = q.t;
  const domain = value.slice(value.lastIndexOf("@") + 1);
  const [other] = await q
    .select({ id: t.id })
    .from(t)
    .where(and(eq(t.value, domain), IS_VERIFIED_DOMAIN, ne(t.workspaceId, workspaceId)));
  return other ? describeTaken(domain) : null;
}

/** Runs a write that verifies a sender. Throws ApiError conflict when another workspace verified its domain in the same moment. */
export async function verifyAlone<T>({ value }: Pick<Wanted, "value">, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof UniqueViolation) throw takenByOther(describeTaken(value));
    throw error;
  }
}

function describeTaken(domain: string): string {
  return `${domain} is verified in another workspace of this server.`;
}

function takenByOther(message: string): ApiError {
  return new ApiError("conflict", message, { hint: "A domain is verified in one workspace only. It must be removed there first." });
}
