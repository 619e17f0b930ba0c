import { AGENT_EVENTS, AgentEvent, type AgentEventType, EVENT_TYPES, EventData, type EventType } from "@mailsvc/sdk/contract";
import type { createSchemaCollector, JsonSchema } from "./json-schema.ts";

type Named = Record<string, JsonSchema>;
type Convert = ReturnType<typeof createSchemaCollector>["convert"];

// The id of the schema of all events, and of the fields they share.
const EVENT = "Event";
const BASE = "EventBase";

const HEADERS: Readonly<Record<string, string>> = {
  "webhook-id": "Id of the event, the same on every attempt.",
  "webhook-timestamp": "Time of the attempt, in seconds since 1970.",
  "webhook-signature": "Signatures by Standard Webhooks: v1, and base64, separated by spaces.",
};

/** The headers of webhooks as shared parameters. */
export const WEBHOOK_PARAMETERS = Object.fromEntries(
  Object.entries(HEADERS).map(([name, description]) => [
    name,
    { name, in: "header", required: true, description, schema: { type: "string" } },
  ]),
);

/** The answer to a webhook as a shared response. */
export const WEBHOOK_RESPONSE = { Received: { description: "Any status from 200 to 299 takes the event. Others are tried again." } };

/**
 * Adds a schema for each type of event to the named ones, and makes `Event` the union of those for developers, told apart by `type`.
 * Returns the webhooks of the document, by type.
 */
export function describeEvents(named: Named, convert: Convert): Named {
  splitEvent(named);
  return {
    ...Object.fromEntries(EVENT_TYPES.map((type) => [type, describeDeveloperEvent(type, named, convert)])),
    ...Object.fromEntries(
      AgentEvent.options.map((option) => {
        const type = option.shape.type.value;
        const name = nameEvent(type);
        named[name] = { ...convert(option, "output"), ...sampleOf(type) };
        return [type, webhook(type, "agent", `Sent to an agent: ${AGENT_EVENTS[type].when}.`.replaceAll("`", ""), name)];
      }),
    ),
  };
}

/** Moves the fields that all events have into a schema of their own. */
function splitEvent(named: Named): void {
  const { properties, required, ...rest } = named[EVENT] as { properties: Named; required: string[] };
  const { type: _type, data: _data, ...shared } = properties;
  named[BASE] = { ...rest, properties: shared, required: required.filter((name) => name in shared) };
  const refs = EVENT_TYPES.map((type) => [type, `#/components/schemas/${nameEvent(type)}`] as const);
  named[EVENT] = {
    oneOf: refs.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: "type", mapping: Object.fromEntries(refs) },
  };
}

function describeDeveloperEvent(type: EventType, named: Named, convert: Convert): JsonSchema {
  const { description, ...data } = convert(EventData.shape[type], "output");
  const name = nameEvent(type);
  const own = { type: "object", properties: { type: { type: "string", const: type }, data }, required: ["type", "data"] };
  named[name] = { allOf: [{ $ref: `#/components/schemas/${BASE}` }, own] };
  return webhook(type, "event", String(description), name);
}

function sampleOf(type: AgentEventType): JsonSchema {
  const [sample] = AGENT_EVENTS[type].samples;
  const about = { id: "evt_sample", activationId: "act_sample", runId: null, sequence: 1, timestamp: "2026-01-01T12:00:00.000Z" };
  return { examples: [{ ...about, type, ...sample }] };
}

function webhook(type: string, kind: "event" | "agent", summary: string, schema: string): JsonSchema {
  return {
    post: {
      operationId: `${kind}.${type}`,
      tags: ["webhooks"],
      summary,
      parameters: Object.keys(HEADERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
      requestBody: { required: true, content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } } },
      responses: { "2XX": { $ref: "#/components/responses/Received" } },
    },
  };
}

/** The name of an event's schema: EmailBouncedEvent. */
function nameEvent(type: string): string {
  return `${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;
}
