import { AGENT_EVENTS, AgentEvent, type AgentEventType, EVENT_TYPES, EventData, type EventType } from "@mailsvc/sdk/contract";
import type { createSchemaCollector, JsonSchema } from "./json-schema.ts";

/**
 * Collects responses that operations share. `share` answers the reference to one, which is called by its status: short names, because each
 * operation has ten of them.
 */
export function createSharedResponses() {
  const responses: Record<string, JsonSchema> = {};
  const names = new Map<string, string>();
  const share = (status: string, response: JsonSchema): JsonSchema => {
    const key = JSON.stringify(response);
    let name = names.get(key);
    if (name === undefined) {
      const others = Object.keys(responses).filter((one) => one.startsWith(`E${status}`)).length;
      name = others === 0 ? `E${status}` : `E${status}.${others + 1}`;
      names.set(key, name);
      responses[name] = response;
    }
    return toRef("responses", name);
  };
  return { responses, share };
}

/** Examples of answers that are not JSON. */
const TEXTS: Readonly<Record<string, string>> = {
  "text/html": "<!doctype html><html><body><p>It works.</p></body></html>",
  "text/plain": "It works.",
  "text/event-stream": 'id: 1043\ndata: {"type":"email.sent"}\n\n',
  "message/rfc822": "From: Acme <hello@acme.example>\r\nTo: ada@example.com\r\nSubject: Hello\r\n\r\nIt works.\r\n",
  "application/octet-stream": "The bytes of the file",
};

/**
 * Collects answers that operations share: those with one named schema have one example. `share` gives the field of a response's content;
 * nothing for an operation without a recorded answer.
 */
export function createSharedAnswers(recorded: Readonly<Record<string, unknown>>) {
  const examples: Record<string, JsonSchema> = {};
  const share = (id: string, schema: JsonSchema, mediaType: string): JsonSchema => {
    const text = TEXTS[mediaType];
    if (text !== undefined) return { example: text };
    const name = typeof schema.$ref === "string" ? (schema.$ref.split("/").at(-1) as string) : null;
    const shown = name !== null && examples[`${name}.answer`] !== undefined;
    if (!shown && recorded[id] === undefined) return {};
    if (name === null) return { example: recorded[id] };
    examples[`${name}.answer`] ??= { value: recorded[id] };
    return { examples: { answer: toRef("examples", `${name}.answer`) } };
  };
  return { examples, share };
}

// A parameter of two operations or more is a component.
const MIN_USES = 2;

/**
 * Replaces parameters that several operations have by references, and returns them by name: their own name, or with the noun that has
 * them first when parameters of several kinds are called the same, as in `webhooks.id`.
 */
export function shareParameters(paths: Record<string, JsonSchema>): Record<string, JsonSchema> {
  const operations = listOperations(paths);
  const shared = listRepeated(operations);
  const names = nameParameters(shared);
  for (const operation of operations) {
    if (operation.parameters)
      operation.parameters = operation.parameters.map((parameter) => {
        const name = names.get(JSON.stringify(parameter));
        return name === undefined ? parameter : toRef("parameters", name);
      });
  }
  return Object.fromEntries(shared.map(({ key, parameter }) => [names.get(key), parameter]));
}

interface Operation {
  operationId: string;
  tags: string[];
  parameters?: JsonSchema[];
  requestBody?: JsonSchema;
  responses: Record<string, JsonSchema>;
}

/** Replaces bodies that several operations take, such as an operation and its aliases, by references, and returns them by name. */
export function shareBodies(paths: Record<string, JsonSchema>): Record<string, JsonSchema> {
  const places = listOperations(paths).flatMap((operation) =>
    operation.requestBody === undefined ? [] : [{ id: operation.operationId, holder: operation as unknown as Holder, key: "requestBody" }],
  );
  return shareRepeated("requestBodies", places);
}

/** Replaces successful answers that several operations give by references, and returns them by name: that of the first operation. */
export function shareSuccesses(paths: Record<string, JsonSchema>): Record<string, JsonSchema> {
  const places = listOperations(paths).flatMap(({ operationId: id, responses }) =>
    Object.entries(responses).flatMap(([key, { $ref }]) => ($ref === undefined ? [{ id, holder: responses, key }] : [])),
  );
  return shareRepeated("responses", places);
}

type Holder = Record<string, JsonSchema>;

function shareRepeated(kind: string, places: readonly { id: string; holder: Holder; key: string }[]): Record<string, JsonSchema> {
  const shared: Record<string, JsonSchema> = {};
  for (const same of Map.groupBy(places, ({ holder, key }) => JSON.stringify(holder[key])).values()) {
    const [first, second] = same;
    if (!first || !second) continue;
    shared[first.id] = first.holder[first.key] as JsonSchema;
    for (const { holder, key } of same) holder[key] = toRef(kind, first.id);
  }
  return shared;
}

function listOperations(paths: Record<string, JsonSchema>): Operation[] {
  return Object.values(paths).flatMap((item) => Object.values(item) as Operation[]);
}

/** A parameter with the noun of the operation that has it first. */
interface Repeated {
  key: string;
  parameter: JsonSchema;
  noun: string;
}

function listRepeated(operations: readonly Operation[]): Repeated[] {
  const all = operations.flatMap(({ tags: [noun = ""], parameters = [] }) =>
    parameters.filter((p) => p.$ref === undefined).map((parameter) => ({ key: JSON.stringify(parameter), parameter, noun })),
  );
  return [...Map.groupBy(all, ({ key }) => key).values()].flatMap((uses) => (uses.length < MIN_USES ? [] : uses.slice(0, 1)));
}

function nameParameters(shared: readonly Repeated[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const [name, same] of Map.groupBy(shared, ({ parameter }) => String(parameter.name))) {
    const taken = new Map<string, number>();
    for (const { key, noun } of same) {
      const wanted = same.length === 1 ? name : `${noun}.${name}`;
      const uses = (taken.get(wanted) ?? 0) + 1;
      taken.set(wanted, uses);
      names.set(key, uses === 1 ? wanted : `${wanted}.${uses}`);
    }
  }
  return names;
}

function toRef(kind: string, name: string): JsonSchema {
  return { $ref: `#/components/${kind}/${name}` };
}

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
