import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import type { SessionDeps } from "./deps.ts";
import { createLink, endAllSessions, endSessionById, listSessions } from "./sessions.ts";

export const dashboardHandlers: Handlers<typeof contract.dashboard, SessionDeps> = {
  link: ({ role }, { tx, deps, workspaceId, key }) => createLink(tx, deps, { workspaceId, keyId: key.id, role }),
  sessions: (input, { read, deps, workspaceId }) => listSessions(read, workspaceId, input, deps.clock.now()),
  signOut: ({ id }, { tx, deps, workspaceId }) => endSessionById(tx, deps, workspaceId, id),
  signOutAll: async (_input, { tx, deps, workspaceId }) => ({ ended: await endAllSessions(tx, deps, workspaceId) }),
};
