import { contactTables } from "../contacts/tables.ts";
import { tallyTables } from "../counters/tables.ts";
import { transactionalTables } from "../emails/tables.ts";
import { eventTables } from "../events/tables.ts";
import { httpTables } from "../http/tables.ts";
import { inboxTables } from "../inbox/tables.ts";
import { keyTables } from "../keys/tables.ts";
import { listTables } from "../lists/tables.ts";
import { marketplaceTables } from "../marketplace/tables.ts";
import { segmentTables } from "../segments/tables.ts";
import { senderTables } from "../senders/tables.ts";
import { suppressionTables } from "../suppressions/tables.ts";
import { templateTables } from "../templates/tables.ts";
import { workspaceTables } from "../workspaces/tables.ts";
import type { Kit } from "./postgres/columns.ts";

/** All tables both databases have, each written once in the folder of its feature. */
export function tablesOf(k: Kit) {
  return {
    ...workspaceTables(k),
    ...keyTables(k),
    ...senderTables(k),
    ...suppressionTables(k),
    ...contactTables(k),
    ...listTables(k),
    ...segmentTables(k),
    ...tallyTables(k),
    ...templateTables(k),
    ...transactionalTables(k),
    ...eventTables(k),
    ...httpTables(k),
    ...inboxTables(k),
    ...marketplaceTables(k),
  };
}

export type Tables = ReturnType<typeof tablesOf>;
