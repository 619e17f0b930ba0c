import type { AuditEntry, contract } from "@mailsvc/sdk/contract";
import { and, eq, gte, isNull, like, lt, or, type SQL } from "drizzle-orm";
import { listPage } from "../db/pagination.ts";
import type { Handlers } from "../http/handler.ts";
import { iso } from "../lib/clock.ts";
import type { AuditDeps } from "./changes.ts";
import type { AuditTables } from "./tables.ts";

export const auditHandlers: Handlers<typeof contract.audit, AuditDeps> = {
  list: async ({ action, object, actor, since, until, ...page }, { read, workspaceId, isOperator }) => {
    const { auditEntries: t } = read.t;
    const own = eq(t.workspaceId, workspaceId);
    const conditions: (SQL | undefined)[] = [
      (await isOperator()) ? or(own, isNull(t.workspaceId)) : own,
      action === undefined ? undefined : or(eq(t.action, action), like(t.action, `${action.replaceAll(/[%_\\]/g, "")}.%`)),
      object === undefined ? undefined : eq(t.objectId, object),
      actor === undefined ? undefined : or(eq(t.actorId, actor), eq(t.actorName, actor)),
      since === undefined ? undefined : gte(t.at, Date.parse(since)),
      until === undefined ? undefined : lt(t.at, Date.parse(until)),
    ];
    return listPage(read, page, { table: t, where: and(...conditions), toItem: showEntry });
  },
};

function showEntry(row: AuditTables["auditEntries"]["$inferSelect"]): AuditEntry {
  return {
    id: row.id,
    at: iso(row.at),
    action: row.action,
    actor: { kind: row.actorKind, id: row.actorId, name: row.actorName },
    object: row.objectId,
    name: row.objectName,
    changes: row.changes,
    requestId: row.requestId,
  };
}
