import { apiTools } from "./api-tools.ts";
import { devTools } from "./dev-tools.ts";
import { knowledgeTools } from "./knowledge-tools.ts";
import { listArguments, listResult } from "./listed-schemas.ts";
import { mailTools } from "./mail-tools.ts";
import { makeOperationTool } from "./operation-tool.ts";
import { listOperations, type Operation } from "./operations.ts";
import type { McpSettings } from "./settings.ts";
import type { Tool } from "./tool.ts";

type WithTool = Operation & { readonly endpoint: { readonly tool: string } };

/** The tools that a server offers, by name and sorted: the same for every client, so that clients can keep the list. */
export function listTools({ dev, writes }: McpSettings): ReadonlyMap<string, Tool> {
  const operations = listOperations().filter((one): one is WithTool => one.endpoint.tool !== undefined);
  const all = [...operations.map(makeOperationTool), ...knowledgeTools, ...mailTools, ...devTools, ...apiTools];
  const offered = all.filter(({ needs }) => needs === "nothing" || dev || (needs === "writes" && writes));
  const listed = offered.map((tool) => ({
    ...tool,
    inputSchema: listArguments(tool.inputSchema),
    outputSchema: listResult(tool.outputSchema),
  }));
  return new Map(listed.sort((a, b) => (a.name < b.name ? -1 : 1)).map((tool) => [tool.name, tool]));
}
