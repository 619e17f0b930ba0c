import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { getEvent, listEvents } from "./list.ts";

export const eventHandlers: Handlers<typeof contract.events> = {
  list: (input, { read, deps, workspaceId }) => listEvents(read, deps, workspaceId, input),
  get: ({ id }, { read, deps, workspaceId }) => getEvent(read, deps, workspaceId, id),
};
