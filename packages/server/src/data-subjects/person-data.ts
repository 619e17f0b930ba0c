import { eq, sql } from "drizzle-orm";
import type { ContactRow } from "../contacts/contacts.ts";
import type { Schema, Tx } from "../db/db.ts";

/**
 * Whether and how a table holds data of a person. `Column` are the names of its columns.
 *
 * | declared                | the rows of a person                  | when the contact is deleted or the person erased           |
 * | ----------------------- | ------------------------------------- | ---------------------------------------------------------- |
 * | `nothing`               | –                                     | –                                                          |
 * | `contact` and `delete`  | name the contact in that column       | are deleted, here                                          |
 * | `contact` and `clear`   | name the contact in that column       | get null there, here                                       |
 * | `contact` and `by`      | name the contact in that column       | are handled by that function, which also keeps counts true |
 * | `address` and `by`      | name the address in that column       | are handled by that function when the person is erased     |
 * | `email` and `by`        | are about an email or event of theirs | are handled by that function when the person is erased     |
 *
 * `stays` says why rows stay all the same. Suppressions stay as a keyed hash of the address.
 */
export type PersonData<Column extends string = string> =
  | "nothing"
  | { readonly nothing: string }
  | { readonly contact: Column; readonly action: "delete" | "clear" }
  | { readonly contact: Column; readonly by: string; readonly stays?: string }
  | { readonly address: Column; readonly by: string; readonly stays?: string }
  | { readonly email: Column; readonly by: string; readonly stays?: string };

type Declarations = { readonly [Name in keyof Schema]: PersonData<keyof Schema[Name]["$inferSelect"] & string> };

const ID_ONLY = "The numbers of the automation stay; the id leads to nobody.";
const OF_AGENTS = "Written by or for an agent, which cannot read contacts.";

/** What each table holds of people. A table that is missing here does not compile. */
export const PERSON_DATA: Declarations = {
  meta: "nothing",
  workspaces: "nothing",
  brands: "nothing",
  keys: "nothing",
  senders: { nothing: "The workspace's own domains and addresses." },
  suppressions: { address: "email", by: "eraseAddress" },
  contacts: { contact: "seq", by: "deleteContactRow" },
  contactTags: { contact: "contactSeq", by: "deleteContactRow" },
  contactCounts: { nothing: "Numbers of contacts." },
  lists: { nothing: "The address its mail comes from." },
  listMembers: { contact: "contactSeq", by: "removeFromLists" },
  segments: "nothing",
  segmentMembers: { contact: "contactSeq", by: "removeFromSegments" },
  engagement: { contact: "contactSeq", action: "delete" },
  counters: "nothing",
  templates: "nothing",
  templateVersions: "nothing",
  contents: { email: "id", by: "deleteEmailCopies", stays: "What a campaign or another email shares." },
  attachments: { email: "contentsId", by: "deleteEmailCopies" },
  attachmentParts: { email: "contentsId", by: "deleteEmailCopies" },
  emails: { address: "toKey", by: "deleteEmailCopies", stays: "An email that was sent stays when its contact is deleted." },
  heldDomains: "nothing",
  heldEmails: { nothing: "The id of an email, until its domain is released." },
  campaigns: { nothing: "The address it comes from." },
  campaignContents: "nothing",
  campaignReactions: { email: "emailId", by: "forgetRecipients" },
  campaignLinkClicks: { email: "emailId", by: "forgetRecipients" },
  campaignLinks: "nothing",
  automations: "nothing",
  automationVersions: "nothing",
  automationContacts: { contact: "contactId", by: "endEntries", stays: ID_ONLY },
  automationEntries: { contact: "contactId", by: "endEntries", stays: ID_ONLY },
  automationRevenue: "nothing",
  automationMoves: { nothing: "The id of an email, which leads to nobody once that is gone." },
  events: {
    contact: "contactId",
    by: "deleteContactEvents",
    stays: "The log stays when a contact is deleted; erasing the person leaves contact.deleted.",
  },
  eventNumbers: "nothing",
  eventArrivals: "nothing",
  eventStreams: "nothing",
  trackedLinks: { address: "url", by: "eraseLinks" },
  engagements: { email: "emailId", by: "deleteEngagements" },
  heldClicks: { email: "emailId", by: "deleteEngagements" },
  idempotency: { address: "answer", by: "deleteIdempotentResponses" },
  inboundReports: "nothing",
  providerConnections: "nothing",
  inbox: { address: "to", by: "deleteCapturedEmails" },
  inboxParts: { email: "mailId", by: "deleteCapturedEmails" },
  listings: "nothing",
  payments: "nothing",
  paymentNotices: "nothing",
  activations: "nothing",
  webhookEvents: { nothing: OF_AGENTS },
  heldAgentEvents: { nothing: OF_AGENTS },
  plans: "nothing",
  runs: { nothing: OF_AGENTS },
  runLogs: { nothing: OF_AGENTS },
  messages: { nothing: OF_AGENTS },
  approvals: { nothing: OF_AGENTS },
  creditBalances: "nothing",
  creditEntries: "nothing",
  wakeups: { nothing: OF_AGENTS },
  landingPages: "nothing",
  landingPageDays: "nothing",
  landingPageVisitors: { nothing: "Hashes with a salt of the day, deleted with it." },
  landingPageSalts: "nothing",
  landingPageSubmissions: { contact: "contactId", action: "clear" },
  landingPageReferrers: "nothing",
  assets: "nothing",
  leadMagnets: "nothing",
  fileContents: "nothing",
  fileParts: "nothing",
  webhookStreams: "nothing",
  webhookAttempts: { email: "eventId", by: "forgetDeliveries" },
  webhookDeliveries: { email: "eventKey", by: "forgetDeliveries" },
  developerWebhooks: { nothing: "The address that the workspace wants alerts at." },
};

/** Deletes or clears what tables hold about a contact that is deleted, where that needs no counts. */
export async function forgetContact(tx: Tx, contact: ContactRow): Promise<void> {
  for (const [name, data] of Object.entries<PersonData>(PERSON_DATA)) {
    if (typeof data === "string" || !("action" in data)) continue;
    // A table with a column that names a contact, such as this one.
    const table = tx.t[name as keyof Schema] as Schema["landingPageSubmissions"];
    const column = data.contact as "contactId";
    const isTheirs = eq(table[column], data.contact === "contactSeq" ? sql`${contact.seq}` : contact.id);
    if (data.action === "delete") await tx.delete(table).where(isTheirs);
    else
      await tx
        .update(table)
        .set({ [column]: null })
        .where(isTheirs);
  }
}
