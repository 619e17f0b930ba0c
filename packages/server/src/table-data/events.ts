import { eq } from "drizzle-orm";
import { listNeededDepartures } from "../campaigns/groups.ts";
import { eraseEvents, eraseIdempotentResponses } from "../data-subjects/erasure.ts";
import { exportEvents } from "../data-subjects/walk.ts";
import { deleteOldDeliveries } from "../developer-webhooks/deliveries.ts";
import { forgetDeliveries, isRead } from "../developer-webhooks/developer-webhooks.ts";
import { deleteEvents } from "../events/events.ts";
import { type EventFollowers, oldEvents } from "../events/old-events.ts";
import { deleteOldAgentEvents } from "../marketplace/agent-webhooks/deliveries.ts";
import { listByKey } from "../retention/retention.ts";
import { eventBodyPlace } from "../webhooks/outbox.ts";
import { endpointSecretPlace } from "../webhooks/secrets.ts";
import { SHORT, type TableDataByTable } from "./declarations.ts";

// Campaigns and webhooks of developers read events after they were stored.
const FOLLOWERS: EventFollowers = {
  isRead,
  forget: forgetDeliveries,
  listNeeded: listNeededDepartures,
};

/** The log of events, and the webhooks that send it. */
export const EVENTS_DATA = {
  events: {
    person: {
      contact: "contactId",
      erase: eraseEvents,
      export: exportEvents,
      stays: "The log stays when a contact is deleted; erasing the person leaves contact.deleted.",
    },
    retention: { policy: "events", ...oldEvents(FOLLOWERS) },
    workspace: { workspace: "workspaceId", remove: async (tx, where) => (await deleteEvents(tx, where)).length },
  },
  webhookDeliveries: {
    person: { email: "eventKey", erase: { with: "events" }, export: { none: "Sends events, which are exported." } },
    retention: {
      policy: "deliveries",
      list: listByKey(({ webhookDeliveries: e }) => ({ table: e, key: e.id, age: e.at })),
      delete: deleteOldDeliveries,
    },
    workspace: { workspace: "workspaceId", secretless: ["eventKey"] },
    sealed: { id: "id", columns: ["sealed"], placeOf: eventBodyPlace },
  },
  webhookAttempts: {
    person: { email: "eventId", erase: { with: "events" }, export: { none: "What the workspace's own receivers answered." } },
    retention: { with: "webhookDeliveries" },
    workspace: {
      of: [
        { table: "webhookDeliveries", column: "eventId" },
        { table: "webhookEvents", column: "eventId" },
      ],
    },
  },
  trackedIds: {
    person: { email: "eventKey", erase: { with: "events" }, export: { none: "Ids of events, which are exported." } },
    retention: { with: "events" },
    workspace: { workspace: "workspaceId", secretless: ["eventKey"] },
  },
  idempotency: {
    person: { address: "answer", erase: eraseIdempotentResponses, export: { none: "Copies of responses, kept for a day." } },
    retention: { ends: "A day after the answer." },
    workspace: {
      of: [
        { table: "keys", column: "keyId" },
        { table: "activations", column: "keyId" },
      ],
      unexported: SHORT,
    },
  },
  developerWebhooks: {
    person: { nothing: "The address that the workspace wants alerts at." },
    retention: "kept",
    workspace: {
      workspace: "workspaceId",

      secretless: ["nextSecretAt"],
      stop: (tx, { clock }, id) => {
        const { developerWebhooks: t } = tx.t;
        return tx.update(t).set({ status: "disabled", alertEmail: null, updatedAt: clock.now() }).where(eq(t.workspaceId, id));
      },
    },
    sealed: { id: "id", columns: ["secret", "nextSecret"], placeOf: endpointSecretPlace },
  },
  eventArrivals: {
    person: "nothing",
    retention: { ends: "Gone when the event has its number, at once." },
    workspace: { workspace: "workspaceId", unexported: SHORT },
  },
  eventReaders: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId", unexported: SHORT } },
  eventRuns: { person: "nothing", retention: { with: "events" }, workspace: { workspace: "workspaceId", secretless: ["key"] } },
  eventStreams: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId" } },
  // The log of what a builder's webhook got is the builder's too, wherever it happened.
  webhookEvents: {
    person: { nothing: "The text of received mail that is in them goes with the messages." },
    retention: {
      policy: "deliveries",
      list: listByKey(({ webhookEvents: e }) => ({ table: e, key: e.id, age: e.at })),
      delete: deleteOldAgentEvents,
    },
    workspace: {
      workspace: "workspaceId",
      of: [{ table: "listings", column: "endpointId" }],

      secretless: ["eventKey"],
    },
    sealed: { id: "id", columns: ["sealed"], placeOf: eventBodyPlace },
  },
  webhookStreams: {
    person: "nothing",
    retention: { ends: "With the last event of a stream of its own; the others are as many as webhooks and activations." },
    workspace: {
      of: [
        { table: "developerWebhooks", column: "endpointId" },
        { table: "listings", column: "endpointId" },
        { table: "activations", column: "streamId" },
      ],
      unexported: SHORT,
    },
  },
} satisfies Partial<TableDataByTable>;
