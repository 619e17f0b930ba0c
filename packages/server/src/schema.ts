import { auditTables } from "./audit/tables.ts";
import { automationTables } from "./automations/tables.ts";
import { campaignTables } from "./campaigns/tables.ts";
import { contactTables } from "./contacts/tables.ts";
import { counterTables } from "./counters/tables.ts";
import { dashboardTables } from "./dashboard/tables.ts";
import type { ColumnTypes } from "./db/columns.ts";
import type { SearchedText } from "./db/search-index.ts";
import { deliveryTables } from "./delivery/tables.ts";
import { developerWebhookTables } from "./developer-webhooks/tables.ts";
import { dialectTables } from "./dialects/tables.ts";
import { emailTables } from "./emails/tables.ts";
import { eventTables } from "./events/tables.ts";
import { httpTables } from "./http/tables.ts";
import { inboundTables } from "./inbound/tables.ts";
import { inboxTables } from "./inbox/tables.ts";
import { installationTables } from "./installation/tables.ts";
import { keyTables } from "./keys/tables.ts";
import { listTables } from "./lists/tables.ts";
import { marketplaceTables } from "./marketplace/tables.ts";
import { metricsTables } from "./metrics/tables.ts";
import { queueTables } from "./queue/tables.ts";
import { receivedTables } from "./received/tables.ts";
import { relayTables } from "./relays/tables.ts";
import { requestTables } from "./requests/tables.ts";
import { segmentTables } from "./segments/tables.ts";
import { senderTables } from "./senders/tables.ts";
import { suppressionTables } from "./suppressions/tables.ts";
import { templateTables } from "./templates/tables.ts";
import { trackingTables } from "./tracking/tables.ts";
import { webhookTables } from "./webhooks/tables.ts";
import { workspaceTables } from "./workspaces/tables.ts";

/** Composes the tables that both databases have. Each is defined once, in the folder of its feature. */
export function defineTables(c: ColumnTypes) {
  return {
    ...installationTables(c),
    ...queueTables(c),
    ...workspaceTables(c),
    ...keyTables(c),
    ...dashboardTables(c),
    ...auditTables(c),
    ...requestTables(c),
    ...relayTables(c),
    ...senderTables(c),
    ...suppressionTables(c),
    ...contactTables(c),
    ...listTables(c),
    ...segmentTables(c),
    ...counterTables(c),
    ...templateTables(c),
    ...emailTables(c),
    ...deliveryTables(c),
    ...campaignTables(c),
    ...automationTables(c),
    ...eventTables(c),
    ...metricsTables(c),
    ...trackingTables(c),
    ...httpTables(c),
    ...inboundTables(c),
    ...inboxTables(c),
    ...receivedTables(c),
    ...marketplaceTables(c),
    ...webhookTables(c),
    ...developerWebhookTables(c),
    ...dialectTables(c),
  };
}

export type Tables = ReturnType<typeof defineTables>;

/** The texts in which substrings are searched; each has an index made by a migration. */
export function listSearchedTexts({ contacts, suppressions }: Tables): SearchedText[] {
  return [
    { table: contacts, text: contacts.searchText },
    { table: suppressions, text: suppressions.email },
  ];
}

// Gives `Db`, `Reader` and `Tx` these tables, so that `db/` needs to know no feature and no caller has to pass a type argument.
declare module "./db/db.ts" {
  interface Schema extends Tables {}
}
