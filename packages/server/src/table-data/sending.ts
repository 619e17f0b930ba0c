import { and, eq, ne, sql } from "drizzle-orm";
import { forgetLinks, forgetRecipients } from "../campaigns/campaigns.ts";
import { deleteOldMail, listOldMail } from "../campaigns/old-mail.ts";
import type { DataSubjectDeps } from "../data-subjects/data-subjects.ts";
import type { ErasedSubject } from "../data-subjects/declarations.ts";
import { eraseContents, eraseEmails, listLinkTexts } from "../data-subjects/erasure.ts";
import { exportEmails } from "../data-subjects/walk.ts";
import type { Tx } from "../db/db.ts";
import { deleteLabels, type EmailRow } from "../emails/emails.ts";
import { eraseFromMetrics } from "../metrics/metrics.ts";
import { deleteLinks, eraseLinks, listOwnLinks } from "../tracking/tracking.ts";
import type { Parent } from "../workspaces/declarations.ts";
import { OF_SERVER, SHORT, type TableDataByTable } from "./declarations.ts";

const IN_EVENTS = { none: "The events email.opened and email.clicked of the emails say it." };
const ofCampaign: readonly Parent<"campaignId">[] = [{ table: "campaigns", column: "campaignId" }];
const ofContents: readonly Parent<"contentsId">[] = [{ table: "contents", column: "contentsId" }];

/** Mail that is sent: emails, campaigns, what recipients do, and what mail is made of. */
export const SENDING_DATA = {
  campaignReactions: {
    person: { email: "emailId", erase: eraseRecipients, export: IN_EVENTS },
    retention: { with: "emails" },
    workspace: { of: ofCampaign },
  },
  campaignLinkClicks: {
    person: { email: "emailId", erase: { with: "campaignReactions" }, export: IN_EVENTS },
    retention: { with: "emails" },
    workspace: { of: ofCampaign },
  },
  campaignLinks: {
    person: { address: "url", erase: eraseClickedLinks, export: { none: "The links are in the emails." } },
    retention: "kept",
    workspace: { of: ofCampaign },
  },
  mailMetrics: {
    person: {
      address: "value",
      erase: eraseMetrics,
      export: { none: "Numbers of mail, which name nobody; a tag may, and loses its row." },
      stays: "The numbers stay.",
    },
    retention: "kept",
    workspace: { workspace: "workspaceId" },
  },
  emailLabels: {
    person: { email: "emailId", erase: eraseLabels, export: { with: "emails" } },
    retention: { with: "emails" },
    workspace: { workspace: "workspaceId" },
  },
  emails: {
    person: {
      address: "toKey",
      erase: eraseEmails,
      export: exportEmails,
      stays: "An email that was sent stays when its contact is deleted.",
    },
    retention: { policy: "emails", list: listOldMail, delete: deleteOldMail, daily: true },
    workspace: { workspace: "workspaceId", secretless: ["toKey"] },
  },
  contents: {
    person: { email: "id", erase: eraseContents, export: { with: "emails" }, stays: "What a campaign or another email shares." },
    retention: { with: "emails" },
    workspace: { workspace: "workspaceId" },
  },
  attachments: {
    person: { email: "contentsId", erase: { with: "contents" }, export: { with: "emails" } },
    retention: { with: "contents" },
    workspace: { of: ofContents },
  },
  attachmentParts: {
    person: { email: "contentsId", erase: { with: "contents" }, export: { with: "emails" } },
    retention: { with: "contents" },
    workspace: { of: ofContents },
  },
  engagements: {
    person: { email: "emailId", erase: "delete", export: IN_EVENTS },
    retention: { with: "emails" },
    workspace: { workspace: "workspaceId" },
  },
  heldRequests: {
    person: { email: "emailId", erase: "delete", export: { none: "Becomes an event of the email within seconds." } },
    retention: { ends: "Recorded within seconds." },
    workspace: { workspace: "workspaceId", unexported: SHORT },
  },
  trackedLinks: {
    person: { address: "url", erase: eraseTargets, export: { none: "The links are in the emails." } },
    retention: "kept",
    workspace: { workspace: "workspaceId", secretless: ["hash"], remove: (tx, where, { tracker }) => deleteLinks(tx, tracker, where) },
  },
  campaignAudience: {
    person: { nothing: "Numbers of contacts, which lead to nobody once these are gone." },
    retention: { ends: "When all of it are recipients." },
    workspace: { of: ofCampaign },
  },
  campaignContents: { person: "nothing", retention: "kept", workspace: { of: ofCampaign, secretless: ["hash"] } },
  campaigns: {
    person: { nothing: "The address it comes from." },
    retention: "kept",
    workspace: {
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
  },
  heldDomains: { person: "nothing", retention: "kept", workspace: { none: OF_SERVER } },
  mailAlarms: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId" } },
  mailReceivers: {
    person: { nothing: "Domains and who takes their mail, of all workspaces together." },
    retention: { ends: "Looked up anew after thirty days; as many as domains that mail goes to." },
    workspace: { none: OF_SERVER },
  },
  heldEmails: {
    person: { nothing: "The id of an email, until its domain is released." },
    retention: { ends: "Gone when their domain is released." },
    workspace: { workspace: "workspaceId" },
  },
  senders: {
    person: { nothing: "The workspace's own domains and addresses." },
    retention: "kept",
    workspace: {
      workspace: "workspaceId",
      hidden: ["token"],
      stop: (tx, _deps, id) => tx.delete(tx.t.senders).where(eq(tx.t.senders.workspaceId, id)),
    },
  },
  templateVersions: {
    person: "nothing",
    retention: "kept",
    workspace: { of: [{ table: "templates", column: "templateId" }], secretless: ["hash"] },
  },
  templates: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId", secretless: ["publishedHash", "draftHash"] } },
} satisfies Partial<TableDataByTable>;

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

async function eraseClickedLinks(tx: Tx, subject: ErasedSubject): Promise<number> {
  const emailIds = subject.emails.map(({ id }) => id);
  const own = await listOwnLinks(tx, subject.workspaceId, emailIds);
  return forgetLinks(tx, subject.workspaceId, listLinkTexts(subject), own);
}

export async function eraseTargetsOf(tx: Tx, { tracker }: Pick<DataSubjectDeps, "tracker">, emails: readonly EmailRow[]): Promise<void> {
  for (const { id, workspaceId, toKey, to, contactId } of emails) {
    const contact = contactId === null ? null : { id: contactId, email: to };
    await eraseLinks(tx, tracker, workspaceId, listLinkTexts({ address: toKey, contact }), [id]);
  }
}
