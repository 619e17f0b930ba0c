import type { AutomationVersion, Page } from "@mailsvc/sdk/contract";
import { and, desc, eq, lt } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { type PageInput, paginateBySeq } from "../db/pagination.ts";
import { iso } from "../lib/clock.ts";
import { getAutomationRow } from "./store.ts";

/** A page of the definitions of an automation, newest first. Throws ApiError not_found. */
export async function listVersions(
  read: Reader,
  workspaceId: string,
  { id, ...input }: PageInput & { id: string },
): Promise<Page<AutomationVersion>> {
  const automation = await getAutomationRow(read, workspaceId, id);
  const { automationVersions: t } = read.t;
  return paginateBySeq(
    input,
    async ({ below, limit, offset }) => {
      const rows = await read
        .select()
        .from(t)
        // Versions are numbered without gaps, so no larger number than the newest one is needed.
        .where(and(eq(t.automationId, id), lt(t.version, Math.min(below, automation.version + 1))))
        .orderBy(desc(t.version))
        .limit(limit)
        .offset(offset);
      return rows.map((row) => ({ ...row, seq: row.version }));
    },
    async () => automation.version,
    ({ version, steps, templates, createdAt }) => ({
      version,
      current: version === automation.version,
      steps: steps.length,
      templates,
      createdAt: iso(createdAt),
    }),
  );
}
