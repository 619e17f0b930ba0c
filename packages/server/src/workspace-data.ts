import { and, eq, inArray, isNull, ne, sql } from "drizzle-orm";
import { deleteEvents } from "./events/events.ts";
import { deleteMails } from "./inbox/inbox.ts";
import { deleteLinks } from "./tracking/tracking.ts";
import type { Parent, WorkspaceDataByTable } from "./workspaces/declarations.ts";

const OF_SERVER = "It is of the server.";
const SECRET_ONLY = "It is worth something only to who has the secret.";
const SHORT = "It is gone within a moment, or says again what other tables say.";

const ofCampaign: readonly Parent<"campaignId">[] = [{ table: "campaigns", column: "campaignId" }];
const ofAutomation: readonly Parent<"automationId">[] = [{ table: "automations", column: "automationId" }];
const ofContents: readonly Parent<"contentsId">[] = [{ table: "contents", column: "contentsId" }];
const ofReceived: readonly Parent<"receivedId">[] = [{ table: "received", column: "receivedId" }];
const ofActivation: readonly Parent<"activationId">[] = [{ table: "activations", column: "activationId" }];
const ofPage: readonly Parent<"pageId">[] = [{ table: "landingPages", column: "pageId" }];

/** Relation of each table to workspaces: the rows that are exported and deleted with one. */
export const WORKSPACE_DATA: WorkspaceDataByTable = {
  workspaces: { workspace: "id" },
  brands: { workspace: "workspaceId" },
  keys: {
    workspace: "workspaceId",
    hidden: ["hash"],
    stop: (tx, { clock }, id) => {
      const { keys: t } = tx.t;
      return tx
        .update(t)
        .set({ revokedAt: clock.now() })
        .where(and(eq(t.workspaceId, id), isNull(t.revokedAt)));
    },
  },
  members: {
    workspace: "workspaceId",
    hidden: ["account"],
    secretless: ["emailKey"],
    stop: (tx, _deps, id) => tx.delete(tx.t.members).where(eq(tx.t.members.workspaceId, id)),
  },
  dashboardSessions: {
    workspace: "workspaceId",
    unexported: SECRET_ONLY,
    stop: (tx, _deps, id) => tx.delete(tx.t.dashboardSessions).where(eq(tx.t.dashboardSessions.workspaceId, id)),
  },
  dashboardLinks: {
    workspace: "workspaceId",
    unexported: SECRET_ONLY,
    stop: (tx, _deps, id) => tx.delete(tx.t.dashboardLinks).where(eq(tx.t.dashboardLinks.workspaceId, id)),
  },
  auditEntries: { workspace: "workspaceId" },
  requestRecords: {
    workspace: "workspaceId",
    secretless: ["keyId", "keyPreview"],
    unexported: "It is a log of the server, kept for days.",
  },
  senders: {
    workspace: "workspaceId",
    hidden: ["token"],
    stop: (tx, _deps, id) => tx.delete(tx.t.senders).where(eq(tx.t.senders.workspaceId, id)),
  },
  suppressions: { workspace: "workspaceId" },
  contacts: { workspace: "workspaceId", secretless: ["emailKey"] },
  contactTags: { workspace: "workspaceId", secretless: ["tagKey"] },
  contactCounts: { workspace: "workspaceId", unexported: SHORT },
  contactProperties: { workspace: "workspaceId", secretless: ["key"] },
  eventDefinitions: { workspace: "workspaceId" },
  contactImports: { workspace: "workspaceId" },
  contactImportResults: { of: [{ table: "contactImports", column: "importSeq", key: "seq" }] },
  contactImportRows: { of: [{ table: "contactImports", column: "importSeq", key: "seq" }] },
  lists: { workspace: "workspaceId" },
  listMembers: { of: [{ table: "lists", column: "listSeq", key: "seq" }], hidden: ["tokenHash"] },
  segments: { workspace: "workspaceId" },
  segmentFields: { workspace: "workspaceId", unexported: SHORT },
  segmentMembers: { of: [{ table: "segments", column: "segmentSeq", key: "seq" }] },
  engagement: { of: [{ table: "contacts", column: "contactSeq", key: "seq" }] },
  contactActionKinds: { workspace: "workspaceId" },
  contactActions: { of: [{ table: "contacts", column: "contactSeq", key: "seq" }], secretless: ["eventKey"] },
  counters: {
    of: [
      { table: "lists", column: "owner" },
      { table: "segments", column: "owner" },
      { table: "campaigns", column: "owner" },
      { table: "automations", column: "owner" },
      { table: "automations", column: "owner", suffix: ":steps" },
    ],
  },
  templates: { workspace: "workspaceId", secretless: ["publishedHash", "draftHash"] },
  templateVersions: { of: [{ table: "templates", column: "templateId" }], secretless: ["hash"] },
  contents: { workspace: "workspaceId" },
  attachments: { of: ofContents },
  attachmentParts: { of: ofContents },
  emails: { workspace: "workspaceId", secretless: ["toKey"] },
  emailLabels: { workspace: "workspaceId" },
  heldEmails: { workspace: "workspaceId" },
  campaigns: {
    workspace: "workspaceId",
    stop: (tx, _deps, id) => {
      const { campaigns: t } = tx.t;
      const change = { status: "CANCELLED" as const, run: sql<number>`${t.run} + 1` };
      return tx
        .update(t)
        .set(change)
        .where(and(eq(t.workspaceId, id), ne(t.status, "SENT")));
    },
  },
  campaignAudience: { of: ofCampaign },
  campaignContents: { of: ofCampaign, secretless: ["hash"] },
  campaignReactions: { of: ofCampaign },
  campaignLinkClicks: { of: ofCampaign },
  campaignLinks: { of: ofCampaign },
  automations: {
    workspace: "workspaceId",
    secretless: ["triggerKey", "goalKey"],
    stop: (tx, { clock }, id) => {
      const { automations: t } = tx.t;
      return tx.update(t).set({ deletedAt: clock.now(), nextDateAt: null }).where(eq(t.workspaceId, id));
    },
  },
  automationVersions: { of: ofAutomation },
  automationContacts: { of: ofAutomation },
  automationEntries: { workspace: "workspaceId" },
  automationRevenue: { of: ofAutomation },
  automationMoves: { of: [{ table: "automationEntries", column: "entryId" }] },
  events: { workspace: "workspaceId", remove: async (tx, where) => (await deleteEvents(tx, where)).length },
  trackedIds: { workspace: "workspaceId", secretless: ["eventKey"] },
  eventRuns: { workspace: "workspaceId", secretless: ["key"] },
  eventArrivals: { workspace: "workspaceId", unexported: SHORT },
  eventStreams: { workspace: "workspaceId" },
  mailMetrics: { workspace: "workspaceId" },
  mailAlarms: { workspace: "workspaceId" },
  eventReaders: { workspace: "workspaceId", unexported: SHORT },
  trackedLinks: { workspace: "workspaceId", secretless: ["hash"], remove: (tx, where, { tracker }) => deleteLinks(tx, tracker, where) },
  engagements: { workspace: "workspaceId" },
  heldRequests: { workspace: "workspaceId", unexported: SHORT },
  idempotency: {
    of: [
      { table: "keys", column: "keyId" },
      { table: "activations", column: "keyId" },
    ],
    unexported: SHORT,
  },
  providerConnections: {
    workspace: "workspaceId",
    hidden: ["token", "key"],
    stop: (tx, _deps, id) => tx.delete(tx.t.providerConnections).where(eq(tx.t.providerConnections.workspaceId, id)),
  },
  inbox: { workspace: "workspaceId", remove: (tx, where) => deleteMails(tx, where), unexported: "Copies of the emails." },
  inboxParts: { with: "inbox" },
  inboxBytes: { with: "inbox" },
  received: { workspace: "workspaceId", secretless: ["toKey", "fromKey", "messageKey", "contentKey"] },
  receivedFiles: { of: ofReceived },
  receivedParts: { of: ofReceived },
  receivedQuotas: { workspace: "workspaceId", unexported: SHORT },
  inboundDomains: {
    workspace: "workspaceId",
    hidden: ["token"],
    stop: (tx, _deps, id) => tx.delete(tx.t.inboundDomains).where(eq(tx.t.inboundDomains.workspaceId, id)),
  },
  listings: {
    workspace: "workspaceId",
    hidden: ["secret", "nextSecret"],
    secretless: ["nextSecretAt"],
    stop: (tx, { clock }, id) => {
      const { listings: t } = tx.t;
      const now = clock.now();
      return tx
        .update(t)
        .set({ state: "CANCELLED", endedAt: now, updatedAt: now })
        .where(and(eq(t.workspaceId, id), eq(t.state, "LISTED")));
    },
  },
  payments: { workspace: "workspaceId" },
  activations: {
    workspace: "workspaceId",
    hidden: ["keyHash"],
    secretless: ["keyPreview", "keyDeliveredAt"],
    stop: async (tx, { clock }, id) => {
      const { activations: t, webhookStreams: s } = tx.t;
      const ended = { status: "deactivated" as const, living: null, uncoveredAt: null, deactivatedAt: clock.now() };
      await tx
        .update(t)
        .set({ ...ended, deactivationReason: "admin_revoke" })
        .where(and(eq(t.workspaceId, id), ne(t.status, "deactivated")));
      // Without its stream no event of an activation goes out.
      await tx.delete(s).where(inArray(s.streamId, tx.select({ id: t.id }).from(t).where(eq(t.workspaceId, id))));
    },
  },
  heldAgentEvents: { of: ofActivation, unexported: SHORT },
  plans: { workspace: "workspaceId" },
  runs: { workspace: "workspaceId", hidden: ["requestHash"] },
  runLogs: { of: [{ table: "runs", column: "run" }] },
  messages: { workspace: "workspaceId" },
  approvals: { workspace: "workspaceId" },
  proposals: { workspace: "workspaceId" },
  creditBalances: { workspace: "workspaceId" },
  creditEntries: { workspace: "workspaceId" },
  wakeups: {
    workspace: "workspaceId",
    secretless: ["dedupeKey"],
    stop: (tx, _deps, id) => tx.delete(tx.t.wakeups).where(eq(tx.t.wakeups.workspaceId, id)),
  },
  landingPages: { workspace: "workspaceId" },
  landingPageDays: { of: ofPage },
  landingPageVisitors: { of: ofPage, unexported: SHORT },
  landingPageReferrers: { of: ofPage },
  landingPageSubmissions: { workspace: "workspaceId" },
  assets: { workspace: "workspaceId" },
  leadMagnets: { workspace: "workspaceId" },
  fileContents: { workspace: "workspaceId" },
  fileParts: { of: [{ table: "fileContents", column: "contentId" }] },
  // The log of what a builder's webhook got is the builder's too, wherever it happened.
  webhookEvents: {
    workspace: "workspaceId",
    of: [{ table: "listings", column: "endpointId" }],
    hidden: ["sealed"],
    secretless: ["eventKey"],
  },
  webhookDeliveries: { workspace: "workspaceId", hidden: ["sealed"], secretless: ["eventKey"] },
  webhookStreams: {
    of: [
      { table: "developerWebhooks", column: "endpointId" },
      { table: "listings", column: "endpointId" },
      { table: "activations", column: "streamId" },
    ],
    unexported: SHORT,
  },
  webhookAttempts: {
    of: [
      { table: "webhookDeliveries", column: "eventId" },
      { table: "webhookEvents", column: "eventId" },
    ],
  },
  developerWebhooks: {
    workspace: "workspaceId",
    hidden: ["secret", "nextSecret"],
    secretless: ["nextSecretAt"],
    stop: (tx, { clock }, id) => {
      const { developerWebhooks: t } = tx.t;
      return tx.update(t).set({ status: "disabled", alertEmail: null, updatedAt: clock.now() }).where(eq(t.workspaceId, id));
    },
  },

  heldDomains: { none: OF_SERVER },
  mailReceivers: { none: OF_SERVER },
  inboundReports: { none: "Hashes, which name nobody." },
  jobs: { none: "The queue cancels those of a workspace." },
  landingPageSalts: { none: OF_SERVER },
  meta: { none: OF_SERVER },
  paymentNotices: { none: "Ids of the payment provider." },
  relays: { none: "It is of the server; one that is for a workspace only keeps that from being deleted." },
  relayTokens: { none: OF_SERVER },
};
