import { type AgentContract, agentContract, type Endpoint, type Example, paramNames } from "@mailsvc/sdk/contract";
import { pdf, png } from "./agent.ts";

/** An endpoint an agent may call. */
export interface AgentEndpoint {
  /** `runs.start` */
  readonly id: string;
  readonly endpoint: Endpoint;
}

/** All of them, from the contract: one that is added is here by itself. */
export function agentEndpoints(contract: AgentContract = agentContract): AgentEndpoint[] {
  return Object.entries(contract).flatMap(([noun, verbs]) =>
    Object.entries(verbs).map(([verb, endpoint]): AgentEndpoint => ({ id: `${noun}.${verb}`, endpoint: endpoint as Endpoint })),
  );
}

// Files must be what they say they are; examples in documents are shorter.
const BODIES: Readonly<Record<string, Example["body"]>> = {
  "assets.create": { fileName: "a.png", contentBase64: png().toString("base64") },
  "leadMagnets.create": { title: "Guide", fileName: "a.pdf", contentBase64: pdf().toString("base64") },
};

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** The calls the examples of an endpoint make, with these values for what they name. */
export function callsOf({ id, endpoint }: AgentEndpoint, values: Readonly<Record<string, string>>): Call[] {
  const examples: readonly Example[] = endpoint.examples ?? [{ summary: "" }];
  return examples.map(({ params = {}, query, body }) => {
    const path = paramNames(endpoint.path).reduce(
      (text, name) => text.replace(`:${name}`, encodeURIComponent(values[name] ?? params[name] ?? "x")),
      endpoint.path as string,
    );
    const search = query ? `?${new URLSearchParams(Object.entries(query).map(([k, v]) => [k, String(v)]))}` : "";
    const sent = endpoint.body ? named(BODIES[id] ?? body ?? {}, values) : undefined;
    return { method: endpoint.method, path: path + search, ...(sent !== undefined && { body: sent }) };
  });
}

function named(body: unknown, values: Readonly<Record<string, string>>): unknown {
  return Object.fromEntries(
    Object.entries(body as object).map(([name, value]) => [name, name.endsWith("Id") ? (values[name] ?? value) : value]),
  );
}
