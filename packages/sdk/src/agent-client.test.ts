import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { agentContract, type Contract, type Endpoint, paramNames } from "./contract/index.ts";
import { AgentClient, UsageError } from "./index.ts";

const endpoints = Object.entries(agentContract as Contract).flatMap(([noun, verbs]) =>
  Object.entries(verbs).map(([verb, endpoint]): [string, string, string, Endpoint] => [`${noun}.${verb}`, noun, verb, endpoint]),
);

const clientOf = (answer: () => Response = () => Response.json({ data: [], pagination: { nextCursor: null } })) => {
  const sent: { method: string; path: string; authorization: string | undefined }[] = [];
  const client = new AgentClient({
    activationId: "act_1",
    apiKey: "ms_agent_x",
    baseUrl: "http://mail.test",
    fetch: async (url, { method, headers }) => {
      sent.push({ method, path: new URL(url).pathname, authorization: headers.authorization });
      return answer();
    },
  });
  return { client, sent };
};

describe("the client of an agent", () => {
  test.each(endpoints)("fills in its activation, and shows its key: %s", async (_, noun, verb, endpoint) => {
    const { client, sent } = clientOf();
    const groups = client as unknown as Record<string, Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;
    const others = paramNames(endpoint.path).slice(1);
    const takesInput = endpoint.query !== undefined || endpoint.body !== undefined;
    await groups[noun]?.[verb]?.(...others.map((name) => `${name}_1`), ...(takesInput ? [{}] : []));
    const path = endpoint.path.replace(":activationId", "act_1").replace(/:(\w+)/g, "$1_1");
    expect(sent).toEqual([{ method: endpoint.method, path, authorization: "Bearer ms_agent_x" }]);
  });

  test("gives an error of the API as what it is", async () => {
    const { client } = clientOf(() =>
      Response.json(
        { error: { code: "activation_paused", message: "Paused.", status: 403, requestId: "req_1", details: [], hint: "" } },
        { status: 403 },
      ),
    );
    await expect(client.self.get()).rejects.toMatchObject({ code: "activation_paused", status: 403, requestId: "req_1" });
  });

  test.each([
    ["no activation", { apiKey: "ms_agent_x" }],
    ["no key", { activationId: "act_1" }],
    ["an activation that would leave its path", { activationId: "../act_1", apiKey: "ms_agent_x" }],
  ])("is refused with %s", (_, options) => {
    expect(() => new AgentClient(options)).toThrow(UsageError);
  });

  test("keeps its key to itself", () => {
    const { client } = clientOf();
    expect(`${JSON.stringify(client)} ${inspect(client)}`).not.toContain("ms_agent");
    expect(JSON.stringify(client)).toContain("act_1");
  });
});
