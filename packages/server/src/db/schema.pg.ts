import { kit } from "./kit.pg.ts";
import { tablesOf } from "./tables.ts";

// drizzle-kit reads named exports, one a table.
export const { workspaces, meta, keys, senders, suppressions, contents, attachments, emails, events, idempotency, inbox } = tablesOf(kit);
export const { contacts, contactTags, contactCounts } = tablesOf(kit);
export { rateBuckets, workers } from "./tables.pg.ts";
