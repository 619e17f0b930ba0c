import { queueTables } from "../queue/tables.ts";
import { kit } from "./kit.sqlite.ts";
import { tablesOf } from "./tables.ts";

// drizzle-kit reads named exports, one a table.
export const { workspaces, meta, keys, senders, suppressions, contents, attachments, emails, events, idempotency, inbox } = tablesOf(kit);
export const { contacts, contactTags, contactCounts } = tablesOf(kit);
export const { jobs } = queueTables(kit);
