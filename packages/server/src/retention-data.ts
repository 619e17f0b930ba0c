import { listNeededDepartures } from "./campaigns/groups.ts";
import { deleteOldMail, listOldMail } from "./campaigns/old-mail.ts";
import { deleteOldDeliveries } from "./developer-webhooks/deliveries.ts";
import { forgetDeliveries, isRead } from "./developer-webhooks/developer-webhooks.ts";
import { type EventFollowers, oldEvents } from "./events/old-events.ts";
import { DAYS_OF_REPORTS, OLD_REPORTS } from "./inbound/known-reports.ts";
import { deleteOldCaptures } from "./inbox/inbox.ts";
import { deleteOldAgentEvents } from "./marketplace/agent-webhooks/deliveries.ts";
import { deleteOldStats } from "./marketplace/landing-pages/stats.ts";
import { deleteOldLogs, deleteOldRuns } from "./marketplace/runs/sweep.ts";
import { deleteOldWakeups } from "./marketplace/wakeups/fire.ts";
import { deleteOldReceived } from "./received/received.ts";
import { byAge, listByKey, type RetentionByTable } from "./retention/retention.ts";
import { forgetActions } from "./segments/segments.ts";

// Campaigns and webhooks of developers read events after they were stored.
const FOLLOWERS: EventFollowers = {
  isRead,
  forget: forgetDeliveries,
  listNeeded: listNeededDepartures,
};

/** Retention of each table. Sweeps go in this order: logs come before their runs, which are kept for as long or longer. */
export const RETENTION: RetentionByTable = {
  runLogs: {
    policy: "logs",
    list: listByKey(({ runLogs: l }) => ({ table: l, key: l.id, age: l.at })),
    delete: deleteOldLogs,
  },
  runs: { policy: "runs", list: listByKey(({ runs: r }) => ({ table: r, key: r.id, age: r.startedAt })), delete: deleteOldRuns },
  wakeups: { policy: "runs", list: listByKey(({ wakeups: w }) => ({ table: w, key: w.id, age: w.createdAt })), delete: deleteOldWakeups },
  webhookEvents: {
    policy: "deliveries",
    list: listByKey(({ webhookEvents: e }) => ({ table: e, key: e.id, age: e.at })),
    delete: deleteOldAgentEvents,
  },
  webhookDeliveries: {
    policy: "deliveries",
    list: listByKey(({ webhookDeliveries: e }) => ({ table: e, key: e.id, age: e.at })),
    delete: deleteOldDeliveries,
  },
  // Found by their pages, which stay.
  landingPageDays: {
    policy: "stats",
    list: listByKey(({ landingPages: p }) => ({ table: p, key: p.id, age: p.createdAt })),
    delete: deleteOldStats,
  },
  events: { policy: "events", ...oldEvents(FOLLOWERS) },
  // Events about what contacts did, by which segments count.
  contactActions: {
    policy: "events",
    list: listByKey(({ contactActions: a }) => ({ table: a, key: a.eventKey, age: a.at })),
    delete: async (tx, keys, before, deps) => {
      await forgetActions(tx, deps, keys.map(Number), before);
      return undefined;
    },
  },
  received: {
    policy: "received",
    list: listByKey(({ received: m }) => ({ table: m, key: m.id, age: m.receivedAt })),
    delete: deleteOldReceived,
  },
  emails: { policy: "emails", list: listOldMail, delete: deleteOldMail, daily: true },
  inbox: {
    policy: "emails",
    list: listByKey(({ inbox: m }) => ({ table: m, key: m.id, age: m.receivedAt })),
    delete: deleteOldCaptures,
  },
  auditEntries: { policy: "audit", ...byAge(({ auditEntries: a }) => ({ table: a, key: a.id, age: a.at })) },
  inboundReports: { policy: { days: DAYS_OF_REPORTS }, ...OLD_REPORTS },
  requestRecords: { policy: "requests", ...byAge(({ requestRecords: r }) => ({ table: r, key: r.seq, age: r.at })) },

  emailLabels: { with: "emails" },
  engagements: { with: "emails" },
  campaignReactions: { with: "emails" },
  campaignLinkClicks: { with: "emails" },
  contents: { with: "emails" },
  attachments: { with: "contents" },
  attachmentParts: { with: "contents" },
  eventRuns: { with: "events" },
  trackedIds: { with: "events" },
  webhookAttempts: { with: "webhookDeliveries" },
  landingPageReferrers: { with: "landingPageDays" },
  receivedFiles: { with: "received" },
  receivedParts: { with: "received" },
  inboxParts: { with: "inbox" },
  inboxBytes: { with: "inbox" },

  eventArrivals: { ends: "Gone when the event has its number, at once." },
  heldRequests: { ends: "Recorded within seconds." },
  heldAgentEvents: { ends: "Go on when their activation is resumed, or end with it." },
  heldEmails: { ends: "Gone when their domain is released." },
  jobs: { ends: "Gone when they are done; failed ones are kept for an operator." },
  idempotency: { ends: "A day after the answer." },
  dashboardLinks: { ends: "When they are used, at the latest after their time." },
  dashboardSessions: { ends: "When they end." },
  landingPageVisitors: { ends: "With their day." },
  landingPageSalts: { ends: "With their day." },
  campaignAudience: { ends: "When all of it are recipients." },
  mailReceivers: { ends: "Looked up anew after thirty days; as many as domains that mail goes to." },
  receivedQuotas: { ends: "A few rows for each workspace, written over each day." },
  webhookStreams: { ends: "With the last event of a stream of its own; the others are as many as webhooks and activations." },

  activations: "kept",
  approvals: "kept",
  assets: "kept",
  automationContacts: "kept",
  automationEntries: "kept",
  automationMoves: "kept",
  automationRevenue: "kept",
  automationVersions: "kept",
  automations: "kept",
  brands: "kept",
  campaignContents: "kept",
  campaignLinks: "kept",
  campaigns: "kept",
  contactActionKinds: "kept",
  contactCounts: "kept",
  contactImportResults: "kept",
  contactImportRows: "kept",
  contactImports: "kept",
  contactProperties: "kept",
  contactTags: "kept",
  contacts: "kept",
  counters: "kept",
  creditBalances: "kept",
  creditEntries: "kept",
  developerWebhooks: "kept",
  engagement: "kept",
  eventDefinitions: "kept",
  eventReaders: "kept",
  eventStreams: "kept",
  fileContents: "kept",
  fileParts: "kept",
  heldDomains: "kept",
  inboundDomains: "kept",
  keys: "kept",
  landingPageSubmissions: "kept",
  landingPages: "kept",
  leadMagnets: "kept",
  listMembers: "kept",
  listings: "kept",
  lists: "kept",
  mailAlarms: "kept",
  mailMetrics: "kept",
  members: "kept",
  messages: "kept",
  meta: "kept",
  paymentNotices: "kept",
  payments: "kept",
  plans: "kept",
  proposals: "kept",
  providerConnections: "kept",
  relayTokens: "kept",
  relays: "kept",
  segmentFields: "kept",
  segmentMembers: "kept",
  segments: "kept",
  senders: "kept",
  suppressions: "kept",
  templateVersions: "kept",
  templates: "kept",
  trackedLinks: "kept",
  workspaces: "kept",
};
