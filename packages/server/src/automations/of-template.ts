import { TEMPLATE_LIMITS, type TemplateDetail } from "@mailsvc/sdk/contract";
import { and, desc, eq, isNull } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";

/** Lists automations, neither deleted nor archived, whose newest steps send a template; newest first, with a limit. */
export async function listAutomationsOfTemplate(
  q: Tx | Reader,
  { workspaceId, id }: { readonly workspaceId: string; readonly id: string },
): Promise<TemplateDetail["usedBy"]["automations"]> {
  const { automations: t, automationVersions: v } = q.t;
  return q
    .select({ id: t.id, name: t.name, status: t.status })
    .from(t)
    .innerJoin(v, and(eq(v.automationId, t.id), eq(v.version, t.version)))
    .where(and(eq(t.workspaceId, workspaceId), isNull(t.deletedAt), isNull(t.archivedAt), q.sqlDialect.jsonNames(v.steps, id)))
    .orderBy(desc(t.id))
    .limit(TEMPLATE_LIMITS.usedBy);
}
