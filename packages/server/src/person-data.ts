import { forgetEntries, listEntriesOfContact } from "./automations/clear.ts";
import { forgetLinks, forgetRecipients } from "./campaigns/campaigns.ts";
import { listFormerValues } from "./contacts/imports.ts";
import { deleteContactRow } from "./contacts/store.ts";
import type { DataSubjectDeps } from "./data-subjects/data-subjects.ts";
import type { ErasedSubject, ExportedParts, ExportedSubject, PersonDataByTable } from "./data-subjects/declarations.ts";
import {
  eraseCapturedEmails,
  eraseContents,
  eraseEmails,
  eraseEvents,
  eraseIdempotentResponses,
  listLinkTexts,
} from "./data-subjects/erasure.ts";
import { exportContact, exportEmails, exportEvents, exportSuppression } from "./data-subjects/walk.ts";
import type { Reader, Tx } from "./db/db.ts";
import { deleteLabels, type EmailRow } from "./emails/emails.ts";
import { listMembershipsOfContact, removeFromLists } from "./lists/lists.ts";
import { forgetSignUps, listSignUpsOfContact } from "./marketplace/landing-pages/signups.ts";
import { eraseFromMetrics } from "./metrics/metrics.ts";
import { eraseReceived, exportReceived } from "./received/received.ts";
import { clearEngagement, removeFromSegments } from "./segments/segments.ts";
import { eraseAddress } from "./suppressions/suppressions.ts";
import { eraseLinks, listOwnLinks } from "./tracking/tracking.ts";

const ID_ONLY = "The numbers of the automation stay; the id leads to nobody.";
const OF_AGENTS = "Written by or for an agent, which cannot read contacts.";
const IN_EVENTS = { none: "The events email.opened and email.clicked of the emails say it." };

/**
 * Personal data in each table. The walks go in this order: rows found by an email come before the emails; emails, suppressions
 * and contacts come in the order in which a bounce changes them, so that transactions do not lock each other out. The contact
 * comes first among the rows about it: a transaction that changes its memberships at the same time collides there, and finds the
 * contact gone.
 */
export const PERSON_DATA: PersonDataByTable = {
  campaignReactions: { email: "emailId", erase: eraseRecipients, export: IN_EVENTS },
  campaignLinkClicks: { email: "emailId", erase: { with: "campaignReactions" }, export: IN_EVENTS },
  campaignLinks: { address: "url", erase: eraseClickedLinks, export: { none: "The links are in the emails." } },
  mailMetrics: {
    address: "value",
    erase: eraseMetrics,
    export: { none: "Numbers of mail, which name nobody; a tag may, and loses its row." },
    stays: "The numbers stay.",
  },
  emailLabels: { email: "emailId", erase: eraseLabels, export: { with: "emails" } },
  emails: {
    address: "toKey",
    erase: eraseEmails,
    export: exportEmails,
    stays: "An email that was sent stays when its contact is deleted.",
  },
  contents: { email: "id", erase: eraseContents, export: { with: "emails" }, stays: "What a campaign or another email shares." },
  attachments: { email: "contentsId", erase: { with: "contents" }, export: { with: "emails" } },
  attachmentParts: { email: "contentsId", erase: { with: "contents" }, export: { with: "emails" } },
  engagements: { email: "emailId", erase: "delete", export: IN_EVENTS },
  heldRequests: { email: "emailId", erase: "delete", export: { none: "Becomes an event of the email within seconds." } },
  events: {
    contact: "contactId",
    erase: eraseEvents,
    export: exportEvents,
    stays: "The log stays when a contact is deleted; erasing the person leaves contact.deleted.",
  },
  webhookDeliveries: { email: "eventKey", erase: { with: "events" }, export: { none: "Sends events, which are exported." } },
  webhookAttempts: { email: "eventId", erase: { with: "events" }, export: { none: "What the workspace's own receivers answered." } },
  trackedIds: { email: "eventKey", erase: { with: "events" }, export: { none: "Ids of events, which are exported." } },
  trackedLinks: { address: "url", erase: eraseTargets, export: { none: "The links are in the emails." } },
  idempotency: { address: "answer", erase: eraseIdempotentResponses, export: { none: "Copies of responses, kept for a day." } },
  inbox: { address: "to", erase: eraseCapturedEmails, export: { none: "Copies of the emails: of all in dev mode, and of test mail." } },
  inboxParts: {
    email: "mailId",
    erase: { with: "inbox" },
    export: { none: "Copies of the emails: of all in dev mode, and of test mail." },
  },
  inboxBytes: {
    email: "hash",
    erase: { with: "inbox" },
    export: { none: "Copies of the emails: of all in dev mode, and of test mail." },
    stays: "What another captured mail shares.",
  },
  received: {
    address: "fromKey",
    erase: eraseReceived,
    export: exportReceivedPage,
  },
  messages: {
    email: "receivedId",
    erase: { with: "received" },
    export: { none: "The text of received mail, which is exported." },
    stays: "What is written for or by an agent, which cannot read contacts.",
  },
  receivedFiles: { email: "receivedId", erase: { with: "received" }, export: { with: "received" } },
  receivedParts: { email: "receivedId", erase: { with: "received" }, export: { with: "received" } },
  suppressions: { address: "email", erase: eraseSuppression, export: exportSuppression },
  contacts: { contact: "seq", forget: deleteContactRow, export: exportContact },
  contactImportRows: {
    contact: "contactSeq",
    forget: "delete",
    export: async (read, { contact }) => (contact ? { formerValues: await listFormerValues(read, contact.seq) } : {}),
  },
  contactTags: { contact: "contactSeq", forget: { with: "contacts" }, export: { with: "contacts" } },
  listMembers: {
    contact: "contactSeq",
    forget: removeFromLists,
    export: async (read, { contact }) => (contact ? { lists: await listMembershipsOfContact(read, contact.seq) } : {}),
  },
  segmentMembers: { contact: "contactSeq", forget: removeFromSegments, export: { with: "contacts" } },
  engagement: {
    contact: "contactSeq",
    forget: clearEngagement,
    export: { none: "The last of the events of each kind of the emails." },
    stays: "On Postgres the number of the contact, without anything else; it leads to nobody.",
  },
  contactActions: {
    contact: "contactSeq",
    forget: { with: "engagement" },
    export: { none: "The events of the emails and of the contact say it." },
  },
  automationEntries: {
    contact: "contactId",
    forget: forgetEntries,
    export: async (read, { contact }) => (contact ? { automationEntries: await listEntriesOfContact(read, contact.id) } : {}),
    stays: ID_ONLY,
  },
  automationContacts: {
    contact: "contactId",
    forget: { with: "automationEntries" },
    export: { with: "automationEntries" },
    stays: ID_ONLY,
  },
  landingPageSubmissions: {
    contact: "contactId",
    forget: forgetSignUps,
    export: async (read, { contact }) => (contact ? { signUps: await listSignUpsOfContact(read, contact.id) } : {}),
  },

  activations: "nothing",
  approvals: { nothing: OF_AGENTS },
  proposals: { nothing: OF_AGENTS },
  assets: "nothing",
  automationMoves: { nothing: "The id of an email, which leads to nobody once that is gone." },
  automationRevenue: "nothing",
  automationVersions: "nothing",
  automations: "nothing",
  brands: "nothing",
  campaignAudience: { nothing: "Numbers of contacts, which lead to nobody once these are gone." },
  campaignContents: "nothing",
  campaigns: { nothing: "The address it comes from." },
  contactCounts: { nothing: "Numbers of contacts." },
  contactImports: "nothing",
  contactImportResults: "nothing",
  counters: "nothing",
  creditBalances: "nothing",
  creditEntries: "nothing",
  dashboardLinks: { nothing: "The names of people who work for the workspace, until the link ends." },
  dashboardSessions: { nothing: "The names of people who work for the workspace, until their session ends." },
  members: { nothing: "The people who work for the workspace." },
  developerWebhooks: { nothing: "The address that the workspace wants alerts at." },
  eventArrivals: "nothing",
  eventReaders: "nothing",
  eventRuns: "nothing",
  eventStreams: "nothing",
  fileContents: "nothing",
  fileParts: "nothing",
  heldAgentEvents: { nothing: "The text of received mail that is in them goes with the messages." },
  heldDomains: "nothing",
  mailAlarms: "nothing",
  mailReceivers: { nothing: "Domains and who takes their mail, of all workspaces together." },
  heldEmails: { nothing: "The id of an email, until its domain is released." },
  inboundDomains: { nothing: "The workspace's own domains." },
  inboundReports: { nothing: "Hashes of what the reports were, which may name recipients." },
  jobs: { nothing: "Names what its handler reads, and what that answered; jobs are gone when they are done." },
  keys: "nothing",
  landingPageDays: "nothing",
  landingPageReferrers: "nothing",
  landingPageSalts: "nothing",
  landingPageVisitors: { nothing: "Hashes with a salt of the day, deleted with it." },
  landingPages: "nothing",
  leadMagnets: "nothing",
  listings: "nothing",
  lists: { nothing: "The address its mail comes from." },
  meta: "nothing",
  paymentNotices: "nothing",
  payments: "nothing",
  plans: "nothing",
  providerConnections: "nothing",
  runLogs: { nothing: OF_AGENTS },
  runs: { nothing: OF_AGENTS },
  contactActionKinds: "nothing",
  segmentFields: "nothing",
  segments: "nothing",
  contactProperties: "nothing",
  eventDefinitions: "nothing",
  senders: { nothing: "The workspace's own domains and addresses." },
  templateVersions: "nothing",
  templates: "nothing",
  wakeups: { nothing: OF_AGENTS },
  webhookEvents: { nothing: "The text of received mail that is in them goes with the messages." },
  webhookStreams: "nothing",
  receivedQuotas: "nothing",
  relays: "nothing",
  auditEntries: { nothing: "Settings and content, by fields; what is about people has its history in events." },
  requestRecords: { nothing: "Paths without addresses and without ids of contacts: `toSafePath`." },
  relayTokens: "nothing",
  workspaces: "nothing",
};

async function exportReceivedPage(read: Reader, { workspaceId, address, position }: ExportedSubject): Promise<ExportedParts> {
  if (position !== null && position.received === undefined) return {};
  const { received, last } = await exportReceived(read, { workspaceId, address, before: position?.received ?? null });
  return { received, ...(last !== null && { next: { received: last } }) };
}

async function eraseMetrics(tx: Tx, subject: ErasedSubject): Promise<number> {
  const emailIds = subject.emails.map(({ id }) => id);
  return eraseFromMetrics(tx, subject.workspaceId, emailIds, listLinkTexts(subject));
}

async function eraseRecipients(tx: Tx, { workspaceId, emails }: ErasedSubject, deps: DataSubjectDeps): Promise<number> {
  await forgetRecipients(
    tx,
    deps,
    workspaceId,
    emails.map(({ id }) => id),
  );
  return emails.length;
}

async function eraseLabels(tx: Tx, { workspaceId, emails }: ErasedSubject): Promise<number> {
  return deleteLabels(tx, workspaceId, emails);
}

async function eraseTargets(tx: Tx, subject: ErasedSubject, { tracker }: DataSubjectDeps): Promise<number> {
  const emailIds = subject.emails.map(({ id }) => id);
  return eraseLinks(tx, tracker, subject.workspaceId, listLinkTexts(subject), emailIds);
}

/** Erases the targets of links that name the people whom emails were to: they were stored after these people were erased. */
export async function eraseTargetsOf(tx: Tx, { tracker }: Pick<DataSubjectDeps, "tracker">, emails: readonly EmailRow[]): Promise<void> {
  for (const { id, workspaceId, toKey, to, contactId } of emails) {
    const contact = contactId === null ? null : { id: contactId, email: to };
    await eraseLinks(tx, tracker, workspaceId, listLinkTexts({ address: toKey, contact }), [id]);
  }
}

async function eraseClickedLinks(tx: Tx, subject: ErasedSubject): Promise<number> {
  const emailIds = subject.emails.map(({ id }) => id);
  const own = await listOwnLinks(tx, subject.workspaceId, emailIds);
  return forgetLinks(tx, subject.workspaceId, listLinkTexts(subject), own);
}

async function eraseSuppression(tx: Tx, { workspaceId, address }: ErasedSubject, deps: DataSubjectDeps): Promise<number> {
  return (await eraseAddress(tx, deps, workspaceId, address)) ? 1 : 0;
}
