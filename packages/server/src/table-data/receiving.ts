import { eq } from "drizzle-orm";
import type { DataSubjectDeps } from "../data-subjects/data-subjects.ts";
import type { ErasedSubject, ExportedParts, ExportedSubject } from "../data-subjects/declarations.ts";
import { eraseCapturedEmails } from "../data-subjects/erasure.ts";
import { exportSuppression } from "../data-subjects/walk.ts";
import type { Reader, Tx } from "../db/db.ts";
import { DAYS_OF_REPORTS, OLD_REPORTS } from "../inbound/known-reports.ts";
import { providerKeyPlace } from "../inbound/providers/connections.ts";
import { deleteMails, deleteOldCaptures } from "../inbox/inbox.ts";
import { deleteOldReceived, eraseReceived, exportReceived } from "../received/received.ts";
import { listByKey } from "../retention/retention.ts";
import { eraseAddress } from "../suppressions/suppressions.ts";
import type { Parent } from "../workspaces/declarations.ts";
import { SHORT, type TableDataByTable } from "./declarations.ts";

const ofReceived: readonly Parent<"receivedId">[] = [{ table: "received", column: "receivedId" }];

/** Captured and received mail, reports of providers, and what these lead to. */
export const RECEIVING_DATA = {
  inbox: {
    person: { address: "to", erase: eraseCapturedEmails, export: { none: "Copies of the emails: of all in dev mode, and of test mail." } },
    retention: {
      policy: "emails",
      list: listByKey(({ inbox: m }) => ({ table: m, key: m.id, age: m.receivedAt })),
      delete: deleteOldCaptures,
    },
    workspace: { workspace: "workspaceId", remove: (tx, where) => deleteMails(tx, where), unexported: "Copies of the emails." },
  },
  inboxParts: {
    person: {
      email: "mailId",
      erase: { with: "inbox" },
      export: { none: "Copies of the emails: of all in dev mode, and of test mail." },
    },
    retention: { with: "inbox" },
    workspace: { with: "inbox" },
  },
  inboxBytes: {
    person: {
      email: "hash",
      erase: { with: "inbox" },
      export: { none: "Copies of the emails: of all in dev mode, and of test mail." },
      stays: "What another captured mail shares.",
    },
    retention: { with: "inbox" },
    workspace: { with: "inbox" },
  },
  received: {
    person: {
      address: "fromKey",
      erase: eraseReceived,
      export: exportReceivedPage,
    },
    retention: {
      policy: "received",
      list: listByKey(({ received: m }) => ({ table: m, key: m.id, age: m.receivedAt })),
      delete: deleteOldReceived,
    },
    workspace: { workspace: "workspaceId", secretless: ["toKey", "fromKey", "messageKey", "contentKey"] },
  },
  receivedFiles: {
    person: { email: "receivedId", erase: { with: "received" }, export: { with: "received" } },
    retention: { with: "received" },
    workspace: { of: ofReceived },
  },
  receivedParts: {
    person: { email: "receivedId", erase: { with: "received" }, export: { with: "received" } },
    retention: { with: "received" },
    workspace: { of: ofReceived },
  },
  suppressions: {
    person: { address: "email", erase: eraseSuppression, export: exportSuppression },
    retention: "kept",
    workspace: { workspace: "workspaceId" },
  },
  inboundDomains: {
    person: { nothing: "The workspace's own domains." },
    retention: "kept",
    workspace: {
      workspace: "workspaceId",
      hidden: ["token"],
      stop: (tx, _deps, id) => tx.delete(tx.t.inboundDomains).where(eq(tx.t.inboundDomains.workspaceId, id)),
    },
  },
  inboundReports: {
    person: { nothing: "Hashes of what the reports were, which may name recipients." },
    retention: { policy: { days: DAYS_OF_REPORTS }, ...OLD_REPORTS },
    workspace: { none: "Hashes, which name nobody." },
  },
  providerConnections: {
    person: "nothing",
    retention: "kept",
    workspace: {
      workspace: "workspaceId",
      hidden: ["token"],
      stop: (tx, _deps, id) => tx.delete(tx.t.providerConnections).where(eq(tx.t.providerConnections.workspaceId, id)),
    },
    sealed: { id: "id", columns: ["key"], placeOf: providerKeyPlace },
  },
  receivedQuotas: {
    person: "nothing",
    retention: { ends: "A few rows for each workspace, written over each day." },
    workspace: { workspace: "workspaceId", unexported: SHORT },
  },
} satisfies Partial<TableDataByTable>;

async function exportReceivedPage(read: Reader, { workspaceId, address, position }: ExportedSubject): Promise<ExportedParts> {
  if (position !== null && position.received === undefined) return {};
  const { received, last } = await exportReceived(read, { workspaceId, address, before: position?.received ?? null });
  return { received, ...(last !== null && { next: { received: last } }) };
}

async function eraseSuppression(tx: Tx, { workspaceId, address }: ErasedSubject, deps: DataSubjectDeps): Promise<number> {
  return (await eraseAddress(tx, deps, workspaceId, address)) ? 1 : 0;
}
