import type { contract, Me as MeSchema } from "@mailsvc/sdk/contract";
import type { z } from "zod";
import type { Reader } from "../db/db.ts";
import type { DeveloperKey } from "../http/auth.ts";
import type { Handlers } from "../http/handler.ts";
import { getKey } from "../keys/keys.ts";
import { iso } from "../lib/clock.ts";
import { hidePlaces } from "../mail/hide-places.ts";
import { countUnhandledJobs } from "../queue/unhandled.ts";
import type { WorkspaceDataByTable } from "./declarations.ts";
import { deleteWorkspace } from "./deletion.ts";
import { exportWorkspace } from "./export.ts";
import { createWorkspace, getWorkspace, listWorkspaces, updateWorkspace, type WorkspaceDeps } from "./workspaces.ts";

type Me = z.output<typeof MeSchema>;

/** The handlers of `workspaces`; `tables` says how each table belongs to workspaces. */
export function workspaceHandlers(tables: WorkspaceDataByTable): Handlers<typeof contract.workspaces, WorkspaceDeps> {
  return {
    list: (input, { read }) => listWorkspaces(read, input),
    create: ({ name }, { tx, deps }) => createWorkspace(tx, deps, { name }),
    update: ({ id, ...changes }, { tx, deps }) => updateWorkspace(tx, deps, id, changes),
    export: (input, { read }) => exportWorkspace(read, tables, input),
    delete: ({ id }, { tx, deps }) => deleteWorkspace(tx, deps, tables, id),
  };
}

export const meHandlers: Handlers<typeof contract.me, WorkspaceDeps> = {
  get: async (_input, { read, deps, workspaceId, key, isOperator }) => ({
    workspace: await getWorkspace(read, workspaceId),
    key: await showKey(read, deps, key),
    server: await showServer(read, deps, isOperator),
  }),
  checkRelays: async (_input, { read, deps, workspaceId, isOperator }) => {
    const checked = await deps.relays.check(read, workspaceId);
    const data = await Promise.all(checked.map(async (one) => ({ ...one, reason: await tell(one.reason, isOperator) })));
    return { ok: data.every(({ ok }) => ok), data };
  },
};

/** The key of a call. A session of the dashboard by an owner key has the permissions of its role only, unless that is the owner. */
async function showKey(read: Reader, deps: WorkspaceDeps, { id, owner, permissions }: DeveloperKey): Promise<Me["key"]> {
  const key = await getKey(read, deps, id);
  return owner ? key : { ...key, owner, permissions: [...permissions] };
}

/** Returns the reason a relay takes no mail, as far as the caller may know it. */
async function tell(reason: string | null, isOperator: () => Promise<boolean>): Promise<string | null> {
  return reason === null || (await isOperator()) ? reason : hidePlaces(reason);
}

async function showServer(read: Reader, deps: WorkspaceDeps, isOperator: () => Promise<boolean>): Promise<Me["server"]> {
  const pause = await deps.queue.readPause(read);
  return {
    version: deps.version,
    dev: deps.config.dev,
    mailer: deps.mailer.name,
    capturesMail: await deps.relays.capturesMail(read),
    mailerFault: await tell(deps.mailer.fault(), isOperator),
    pausedAt: pause && iso(pause.at),
    unhandledJobs: await countUnhandledJobs(deps.queue, read),
    marketplace: await deps.showsMarketplace(read),
    now: iso(deps.clock.now()),
  };
}
