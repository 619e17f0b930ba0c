import { and, eq, inArray, ne } from "drizzle-orm";
import { forgetSignUps, listSignUpsOfContact } from "../marketplace/landing-pages/signups.ts";
import { deleteOldStats } from "../marketplace/landing-pages/stats.ts";
import { deleteOldLogs, deleteOldRuns } from "../marketplace/runs/sweep.ts";
import { deleteOldWakeups } from "../marketplace/wakeups/fire.ts";
import { listByKey } from "../retention/retention.ts";
import { endpointSecretPlace } from "../webhooks/secrets.ts";
import type { Parent } from "../workspaces/declarations.ts";
import { OF_SERVER, SHORT, type TableDataByTable } from "./declarations.ts";

const OF_AGENTS = "Written by or for an agent, which cannot read contacts.";
const ofActivation: readonly Parent<"activationId">[] = [{ table: "activations", column: "activationId" }];
const ofPage: readonly Parent<"pageId">[] = [{ table: "landingPages", column: "pageId" }];

/** Agents, what they do, and what they make for a brand. */
export const MARKETPLACE_DATA = {
  messages: {
    person: {
      email: "receivedId",
      erase: { with: "received" },
      export: { none: "The text of received mail, which is exported." },
      stays: "What is written for or by an agent, which cannot read contacts.",
    },
    retention: "kept",
    workspace: { workspace: "workspaceId" },
  },
  landingPageSubmissions: {
    person: {
      contact: "contactId",
      forget: forgetSignUps,
      export: async (read, { contact }) => (contact ? { signUps: await listSignUpsOfContact(read, contact.id) } : {}),
    },
    retention: "kept",
    workspace: { workspace: "workspaceId" },
  },
  activations: {
    person: "nothing",
    retention: "kept",
    workspace: {
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
  },
  approvals: { person: { nothing: OF_AGENTS }, retention: "kept", workspace: { workspace: "workspaceId" } },
  proposals: { person: { nothing: OF_AGENTS }, retention: "kept", workspace: { workspace: "workspaceId" } },
  assets: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId" } },
  creditBalances: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId" } },
  creditEntries: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId" } },
  fileContents: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId" } },
  fileParts: { person: "nothing", retention: "kept", workspace: { of: [{ table: "fileContents", column: "contentId" }] } },
  heldAgentEvents: {
    person: { nothing: "The text of received mail that is in them goes with the messages." },
    retention: { ends: "Go on when their activation is resumed, or end with it." },
    workspace: { of: ofActivation, unexported: SHORT },
  },
  // Found by their pages, which stay.
  landingPageDays: {
    person: "nothing",
    retention: {
      policy: "stats",
      list: listByKey(({ landingPages: p }) => ({ table: p, key: p.id, age: p.createdAt })),
      delete: deleteOldStats,
    },
    workspace: { of: ofPage },
  },
  landingPageReferrers: { person: "nothing", retention: { with: "landingPageDays" }, workspace: { of: ofPage } },
  landingPageSalts: { person: "nothing", retention: { ends: "With their day." }, workspace: { none: OF_SERVER } },
  landingPageVisitors: {
    person: { nothing: "Hashes with a salt of the day, deleted with it." },
    retention: { ends: "With their day." },
    workspace: { of: ofPage, unexported: SHORT },
  },
  landingPages: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId" } },
  leadMagnets: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId" } },
  listings: {
    person: "nothing",
    retention: "kept",
    workspace: {
      workspace: "workspaceId",

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
    sealed: { id: "id", columns: ["secret", "nextSecret"], placeOf: endpointSecretPlace },
  },
  paymentNotices: { person: "nothing", retention: "kept", workspace: { none: "Ids of the payment provider." } },
  payments: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId" } },
  plans: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId" } },
  runLogs: {
    person: { nothing: OF_AGENTS },
    retention: {
      policy: "logs",
      list: listByKey(({ runLogs: l }) => ({ table: l, key: l.id, age: l.at })),
      delete: deleteOldLogs,
    },
    workspace: { of: [{ table: "runs", column: "run" }] },
  },
  runs: {
    person: { nothing: OF_AGENTS },
    retention: { policy: "runs", list: listByKey(({ runs: r }) => ({ table: r, key: r.id, age: r.startedAt })), delete: deleteOldRuns },
    workspace: { workspace: "workspaceId", hidden: ["requestHash"] },
  },
  wakeups: {
    person: { nothing: OF_AGENTS },
    retention: {
      policy: "runs",
      list: listByKey(({ wakeups: w }) => ({ table: w, key: w.id, age: w.createdAt })),
      delete: deleteOldWakeups,
    },
    workspace: {
      workspace: "workspaceId",
      secretless: ["dedupeKey"],
      stop: (tx, _deps, id) => tx.delete(tx.t.wakeups).where(eq(tx.t.wakeups.workspaceId, id)),
    },
  },
} satisfies Partial<TableDataByTable>;
