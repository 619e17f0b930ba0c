import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { ApiError } from "../lib/api-error.ts";
import { confirm, getInvitation, invite, renderConfirmation } from "./confirmation.ts";
import type { ListDeps } from "./deps.ts";
import { createList, deleteList, getList, listLists, updateList } from "./lists.ts";
import { addMembers, getMember, listMembers, removeMember, removeMembers, showMember } from "./members.ts";

export const listHandlers: Handlers<typeof contract.lists, ListDeps> = {
  list: (input, { read, workspaceId }) => listLists(read, workspaceId, input),
  create: (input, { tx, deps, workspaceId }) => createList(tx, deps, workspaceId, input),
  get: ({ id }, { read, workspaceId }) => getList(read, workspaceId, id),
  update: ({ id, ...input }, { tx, deps, workspaceId }) => updateList(tx, deps, workspaceId, id, input),
  delete: ({ id }, { tx, deps, workspaceId }) => deleteList(tx, deps, workspaceId, id),
  contacts: ({ id, ...input }, { read, workspaceId }) => listMembers(read, workspaceId, id, input),
  add: ({ id, contacts, startAutomations }, { tx, deps, workspaceId }) =>
    addMembers(tx, deps, workspaceId, id, contacts, { startsNothing: !startAutomations }),
  remove: ({ id, contacts, startAutomations }, { tx, deps, workspaceId }) =>
    removeMembers(tx, deps, workspaceId, id, contacts, { startsNothing: !startAutomations }),
  removeOne: ({ id, contact }, { tx, deps, workspaceId }) => removeMember(tx, deps, workspaceId, id, contact),
  resend: async ({ id, contact }, { tx, deps, workspaceId }) => {
    const found = await getMember(tx, workspaceId, id, contact);
    if (found.member.status !== "PENDING") throw new ApiError("invalid_state", "This contact is already a member.");
    return showMember(found.contact, await invite(tx, deps, found));
  },
  confirmPage: async ({ token, lang = null }, { deps, header }) => {
    const { read } = deps.db;
    return renderConfirmation(read, deps, await getInvitation(read, deps, token), { menu: lang, browser: header("accept-language") });
  },
  confirm: ({ token, lang = null }, { deps, header }) =>
    deps.db.tx((tx) => confirm(tx, deps, token, { menu: lang, browser: header("accept-language") })),
};
