import { and, eq, isNull } from "drizzle-orm";
import { relaySecretsPlace } from "../relays/settings.ts";
import { relayTokenPlace } from "../relays/token-store.ts";
import { byAge } from "../retention/retention.ts";
import { OF_SERVER, type TableDataByTable } from "./declarations.ts";

const SECRET_ONLY = "It is worth something only to who has the secret.";

/** Workspaces, who may use them, and what is of the server. */
export const INSTALLATION_DATA = {
  brands: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId" } },
  dashboardLinks: {
    person: { nothing: "The names of people who work for the workspace, until the link ends." },
    retention: { ends: "When they are used, at the latest after their time." },
    workspace: {
      workspace: "workspaceId",
      unexported: SECRET_ONLY,
      stop: (tx, _deps, id) => tx.delete(tx.t.dashboardLinks).where(eq(tx.t.dashboardLinks.workspaceId, id)),
    },
  },
  dashboardSessions: {
    person: { nothing: "The names of people who work for the workspace, until their session ends." },
    retention: { ends: "When they end." },
    workspace: {
      workspace: "workspaceId",
      unexported: SECRET_ONLY,
      stop: (tx, _deps, id) => tx.delete(tx.t.dashboardSessions).where(eq(tx.t.dashboardSessions.workspaceId, id)),
    },
  },
  members: {
    person: { nothing: "The people who work for the workspace." },
    retention: "kept",
    workspace: {
      workspace: "workspaceId",
      hidden: ["account"],
      secretless: ["emailKey"],
      stop: (tx, _deps, id) => tx.delete(tx.t.members).where(eq(tx.t.members.workspaceId, id)),
    },
  },
  jobs: {
    person: { nothing: "Names what its handler reads, and what that answered; jobs are gone when they are done." },
    retention: { ends: "Gone when they are done; failed ones are kept for an operator." },
    workspace: { none: "The queue cancels those of a workspace." },
  },
  keys: {
    person: "nothing",
    retention: "kept",
    workspace: {
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
  },
  meta: { person: "nothing", retention: "kept", workspace: { none: OF_SERVER } },
  relays: {
    person: "nothing",
    retention: "kept",
    workspace: { none: "It is of the server; one that is for a workspace only keeps that from being deleted." },
    sealed: { id: "name", columns: ["secrets"], placeOf: relaySecretsPlace },
  },
  auditEntries: {
    person: { nothing: "Settings and content, by fields; what is about people has its history in events." },
    retention: { policy: "audit", ...byAge(({ auditEntries: a }) => ({ table: a, key: a.id, age: a.at })) },
    workspace: { workspace: "workspaceId" },
  },
  requestRecords: {
    person: { nothing: "Paths without addresses and without ids of contacts: `toSafePath`." },
    retention: { policy: "requests", ...byAge(({ requestRecords: r }) => ({ table: r, key: r.seq, age: r.at })) },
    workspace: {
      workspace: "workspaceId",
      secretless: ["keyId", "keyPreview"],
      unexported: "It is a log of the server, kept for days.",
    },
  },
  relayTokens: {
    person: "nothing",
    retention: "kept",
    workspace: { none: OF_SERVER },
    sealed: { id: "relay", columns: ["token"], placeOf: relayTokenPlace },
  },
  workspaces: { person: "nothing", retention: "kept", workspace: { workspace: "id" } },
} satisfies Partial<TableDataByTable>;
