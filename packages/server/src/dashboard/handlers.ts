import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import type { SessionDeps } from "./deps.ts";
import { createLink } from "./links.ts";
import type { MemberMailDeps } from "./member-mail.ts";
import { assertReachable, inviteMember, listMembers, removeMember, setMemberRole, showMember, signMemberOut } from "./members.ts";
import { endAllSessions, endSession, endSessionById, getSession, listSessions } from "./sessions.ts";

export const dashboardHandlers: Handlers<typeof contract.dashboard, SessionDeps> = {
  link: ({ role, name = null }, { tx, deps, workspaceId, key }) => createLink(tx, deps, { workspaceId, keyId: key.id, role, name }),
  sessions: (input, { read, deps, workspaceId }) => listSessions(read, workspaceId, input, deps.clock.now()),
  signOut: ({ id }, { tx, deps, workspaceId }) => endSessionById(tx, deps, workspaceId, id),
  signOutPerson: async ({ id }, { tx, deps, workspaceId }) => ({
    ended: await endSession(tx, deps, await getSession(tx, workspaceId, id), true),
  }),
  signOutAll: async (_input, { tx, deps, workspaceId }) => ({ ended: await endAllSessions(tx, deps, workspaceId) }),
};

export const memberHandlers: Handlers<typeof contract.members, MemberMailDeps> = {
  list: (input, { read, deps, workspaceId }) => listMembers(read, workspaceId, input, deps.clock.now()),
  get: ({ member }, { read, deps, workspaceId }) => showMember(read, workspaceId, member, deps.clock.now()),
  invite: {
    prepare: (_input, { read, deps }) => assertReachable(read, deps),
    run: (input, { tx, deps, key }, mailed: boolean) => inviteMember(tx, deps, key, input, mailed),
  },
  setRole: ({ member, role }, { tx, deps, key }) => setMemberRole(tx, deps, key, member, role),
  remove: ({ member }, { tx, deps, key }) => removeMember(tx, deps, key, member),
  signOut: ({ member }, { tx, deps, key }) => signMemberOut(tx, deps, key, member),
};
