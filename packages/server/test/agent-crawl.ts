import { type AgentContract, agentContract, type Endpoint, type Example, paramNames } from "@mailsvc/sdk/contract";
import { pdf, png } from "./agent.ts";

/** An endpoint for agents. */
interface AgentEndpoint {
  /** `runs.start` */
  readonly id: string;
  readonly endpoint: Endpoint;
}

/** All endpoints for agents, from the contract, so that new ones are included. */
export function listAgentEndpoints(contract: AgentContract = agentContract): AgentEndpoint[] {
  return Object.entries(contract).flatMap(([noun, verbs]) =>
    Object.entries(verbs).map(([verb, endpoint]): AgentEndpoint => ({ id: `${noun}.${verb}`, endpoint: endpoint as Endpoint })),
  );
}

// Uploads must have valid content; the contract's examples are shortened.
const BODIES: Readonly<Record<string, Example["body"]>> = {
  "assets.create": { fileName: "a.png", contentBase64: png().toString("base64") },
  "leadMagnets.create": { title: "Guide", fileName: "a.pdf", contentBase64: pdf().toString("base64") },
};

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** The calls of an endpoint's examples, with these values for parameters and ids. */
export function buildCalls({ id, endpoint }: AgentEndpoint, values: Readonly<Record<string, string>>): Call[] {
  const examples: readonly Example[] = endpoint.examples ?? [{ summary: "" }];
  return examples.map(({ params = {}, query, body }) => {
    const path = paramNames(endpoint.path).reduce(
      (text, name) => text.replace(`:${name}`, encodeURIComponent(values[name] ?? params[name] ?? "x")),
      endpoint.path as string,
    );
    const search = query ? `?${new URLSearchParams(Object.entries(query).map(([k, v]) => [k, String(v)]))}` : "";
    const sent = endpoint.body ? fillIds(BODIES[id] ?? body ?? {}, values) : undefined;
    return { method: endpoint.method, path: path + search, ...(sent !== undefined && { body: sent }) };
  });
}

function fillIds(body: unknown, values: Readonly<Record<string, string>>): unknown {
  return Object.fromEntries(
    Object.entries(body as object).map(([name, value]) => [name, name.endsWith("Id") ? (values[name] ?? value) : value]),
  );
}
