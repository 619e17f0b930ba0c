import { marketplaceTables } from "../marketplace/tables.ts";
import { queueTables } from "../queue/tables.ts";
import { kit } from "./sqlite/columns.ts";
import { tablesOf } from "./tables.ts";

// drizzle-kit reads named exports, one a table.
export const { workspaces, meta, keys, senders, suppressions, contents, attachments, emails, events, idempotency, inbox } = tablesOf(kit);
export const { contacts, contactTags, contactCounts } = tablesOf(kit);
export const { templates, templateVersions } = tablesOf(kit);
export const { lists, listMembers, segments, segmentMembers, engagement, tallies } = tablesOf(kit);
export const { jobs } = queueTables(kit);
export const {
  listings,
  payments,
  paymentNotices,
  activations,
  plans,
  agentEvents,
  deliveryLanes,
  deliveryAttempts,
  runs,
  runLogs,
  messages,
  approvals,
  creditBalances,
  creditEntries,
  wakeups,
  landingPages,
  landingPageDays,
  landingPageVisitors,
  landingPageReferrers,
  landingPageSalts,
  landingPageSubmissions,
  assets,
  leadMagnets,
  fileContents,
  fileParts,
  brands,
} = marketplaceTables(kit);
