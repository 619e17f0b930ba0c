import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import type { EventTailDeps } from "./deps.ts";
import { getEvent, listEvents } from "./list.ts";
import { followEvents } from "./tail.ts";

export const eventHandlers: Omit<Handlers<typeof contract.events, EventTailDeps>, "track" | "trackBatch"> = {
  list: (input, { read, deps, workspaceId, key }) => listEvents(read, deps, workspaceId, { ...input, test: key.test || input.test }),
  tail: async (input, { read, deps, workspaceId, key, header, signal }) =>
    followEvents(read, deps, {
      ...input,
      test: key.test || input.test,
      workspaceId,
      keyId: key.id,
      lastEventId: header("last-event-id"),
      signal: signal(),
    }),
  get: ({ id }, { read, deps, workspaceId, key }) => getEvent(read, deps, { workspaceId, test: key.test }, id),
};
