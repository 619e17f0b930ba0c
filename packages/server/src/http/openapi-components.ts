import type { JsonSchema } from "./json-schema.ts";

/** Collects responses that operations share. `share` answers the reference to one; a name always stands for the same response. */
export function createSharedResponses() {
  const responses: Record<string, JsonSchema> = {};
  const share = (name: string, response: JsonSchema): JsonSchema => {
    responses[name] ??= response;
    if (JSON.stringify(responses[name]) !== JSON.stringify(response)) throw new Error(`Two responses are called ${name}.`);
    return toRef("responses", name);
  };
  return { responses, share };
}

// A parameter of three operations or more is a component.
const MIN_USES = 3;

/**
 * Replaces parameters that several operations have by references, and returns them by name: their own name, or with the noun that has
 * them first when parameters of several kinds are called the same, as in `webhooks.id`.
 */
export function shareParameters(paths: Record<string, JsonSchema>): Record<string, JsonSchema> {
  const operations = Object.values(paths).flatMap((item) => Object.values(item) as Operation[]);
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
  tags: string[];
  parameters?: JsonSchema[];
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
  for (const [name, same] of Map.groupBy(shared, ({ parameter }) => String(parameter.name)))
    for (const { key, noun } of same) names.set(key, same.length === 1 ? name : `${noun}.${name}`);
  if (new Set(names.values()).size < names.size) throw new Error("Two shared parameters have one name.");
  return names;
}

function toRef(kind: string, name: string): JsonSchema {
  return { $ref: `#/components/${kind}/${name}` };
}
