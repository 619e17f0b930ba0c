// The part of the contract that the agent kit uses, as plain TypeScript without zod: the events with the fields that identify them, and the
// endpoints of an agent's key with their types.
import { AGENT_EVENTS, AgentEvent, agentContract, Pagination, paramNames } from "@mailsvc/sdk/contract";
import { createSchemaCollector } from "../packages/server/src/http/json-schema.ts";
import { typeOf } from "./typescript.mjs";

const BASE = agentContract.self.get.path;

/** The text of packages/agent-kit/src/contract.generated.ts. */
export function kitContract() {
  const { named, convert } = createSchemaCollector();
  const events = AgentEvent.options.map((option) => {
    const type = option.shape.type.value;
    return { type, name: `${pascal(type)}Event`, schema: convert(option, "output") };
  });
  convert(Pagination, "output");
  const nouns = Object.entries(agentContract).map(([noun, verbs]) => ({
    noun,
    verbs: Object.entries(verbs).map(([verb, endpoint]) => ({ verb, endpoint, signature: signatureOf(endpoint, convert) })),
  }));
  return [
    "// Generated from the contract by `npm run generate`.",
    "",
    ...events.map(
      ({ name, type, schema }) => `/** The event \`${type}\`: ${AGENT_EVENTS[type].when}. */\nexport interface ${name} ${typeOf(schema)}\n`,
    ),
    "/** An event that the service sends to the webhook of an agent. */",
    `export type AgentEvent = ${events.map(({ name }) => name).join(" | ")};`,
    "",
    "/** The events by their types. */",
    `export interface AgentEvents {\n${events.map(({ type, name }) => `  ${JSON.stringify(type)}: ${name};`).join("\n")}\n}`,
    "",
    "/** The fields by which a repeat of an event is recognized. */",
    `export const EVENT_KEYS: Readonly<Record<AgentEvent["type"], readonly string[]>> = ${JSON.stringify(
      mapEvents(({ key }) => key),
      null,
      2,
    )};`,
    "",
    ...Object.entries(named)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => `export interface ${name} ${typeOf(schema)}\n`),
    "/** A page of a list. */",
    "export interface Page<T> {\n  data: T[];\n  pagination: Pagination;\n}",
    "",
    "/** The endpoints of an agent's key, by noun and verb. `O` is what every call takes as its last argument. */",
    "export interface AgentApi<O> {",
    ...nouns.flatMap(({ noun, verbs }) => [
      `  readonly ${noun}: {`,
      ...verbs.flatMap(({ verb, endpoint, signature }) => [`    /** ${endpoint.summary}. */`, `    ${verb}${signature};`]),
      "  };",
    ]),
    "}",
    "",
    "/** An endpoint: its method, its path after the address of the activation, and whether it takes input. */",
    "export type AgentEndpoint = readonly [method: string, path: string, takesInput: boolean];",
    "",
    "export const AGENT_ENDPOINTS: Readonly<Record<string, Readonly<Record<string, AgentEndpoint>>>> = {",
    ...nouns.flatMap(({ noun, verbs }) => [
      `  ${noun}: {`,
      ...verbs.map(({ verb, endpoint: { method, path, query, body } }) => {
        const takesInput = (method === "GET" ? query : body) !== undefined;
        return `    ${verb}: ${JSON.stringify([method, path.slice(BASE.length), takesInput])},`;
      }),
      "  },",
    ]),
    "};",
    "",
  ].join("\n");
}

/** Builds the kit's table of an event property, by type. */
function mapEvents(pick) {
  return Object.fromEntries(Object.entries(AGENT_EVENTS).map(([type, kind]) => [type, pick(kind)]));
}

/** The text of packages/agent-kit/src/testing/samples.generated.ts. */
export function kitSamples() {
  return [
    "// Generated from the contract by `npm run generate`.",
    'import type { AgentEvents } from "../contract.generated.ts";',
    "",
    "/** What sample events of each type say, besides the fields that all have. */",
    "export const SAMPLES: { readonly [T in keyof AgentEvents]: readonly [Partial<AgentEvents[T]>, ...Partial<AgentEvents[T]>[]] } =",
    `  ${JSON.stringify(
      mapEvents(({ samples }) => samples),
      null,
      2,
    )};`,
    "",
  ].join("\n");
}

function pascal(type) {
  return type.replace(/^agent\./, "").replace(/(?:^|[._])([a-z])/g, (_, letter) => letter.toUpperCase());
}

/** The arguments and the result of an endpoint: its path parameters but the activation's, its input, the options. */
function signatureOf(endpoint, convert) {
  const params = paramNames(endpoint.path.slice(BASE.length)).map((name) => `${name}: string`);
  const schema = endpoint.method === "GET" ? endpoint.query : endpoint.body;
  const input = schema && convert(schema, "input");
  const optional = input && !(input.required?.length > 0);
  const args = [...params, ...(input ? [`input${optional ? "?" : ""}: ${typeOf(input, { indent: "    " })}`] : []), "options?: O"];
  return `(${args.join(", ")}): Promise<${resultOf(endpoint, convert)}>`;
}

function resultOf({ output }, convert) {
  const item = output.shape?.pagination && output.shape.data?.element;
  return item ? `Page<${typeOf(convert(item, "output"), { indent: "    " })}>` : typeOf(convert(output, "output"), { indent: "    " });
}
