import { contract, ERROR_CODES, ERRORS, findClosest, requiredGrant } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { capturesAll } from "./operation-tool.ts";
import { listOperations } from "./operations.ts";
import { defineTool, type Tool } from "./tool.ts";
import { ToolError } from "./tool-error.ts";

const SHOWN = 5;

/** Tools that know: who is calling, the documentation, the errors. */
export const knowledgeTools: readonly Tool[] = [
  defineTool({
    name: "whoami",
    title: "Show workspace, key and limits",
    description: "Show the workspace, the key with its permissions, the server, and what tools may do here.",
    input: z.strictObject({}),
    output: contract.me.get.output.extend({
      tools: z.object({
        writes: z.boolean().meta({ description: "Whether tools may write; in serve a person confirms each write" }),
        confirmed: z.boolean().meta({ description: "A person is asked before each write" }),
        maxRecipients: z.int().nullable(),
        allowTo: z.array(z.string()).meta({ description: "Domains to which mail may go; empty for all" }),
      }),
    }),
    run: async (_, { me, settings: { dev, writes, maxRecipients, allowTo } }) => ({
      ...(await me()),
      tools: { writes: dev || writes, confirmed: !(dev && (await capturesAll(me))), maxRecipients, allowTo: [...allowTo] },
    }),
  }),
  defineTool({
    name: "docs_search",
    title: "Search the documentation",
    description: "Find sections of the documentation of mailsvc by words. Read a whole page as the resource named in uri.",
    input: z.strictObject({ query: z.string().min(1).max(200) }),
    output: z.object({
      results: z.array(z.object({ uri: z.string(), page: z.string(), section: z.string(), excerpt: z.string() })),
    }),
    run: async ({ query }, { docs }) => ({ results: docs.search(query, SHOWN) }),
    text: ({ results }) =>
      results.length === 0
        ? "Nothing found."
        : results.map(({ uri, page, section, excerpt }) => `${page} › ${section} (${uri})\n${excerpt}`).join("\n\n"),
  }),
  defineTool({
    name: "errors_explain",
    title: "Explain an error code",
    description: "Say what causes an error code of the API, what to do about it, and which operations answer it.",
    input: z.strictObject({ code: z.string().max(60).meta({ description: "Such as sender_not_verified" }) }),
    output: z.object({
      code: z.string(),
      status: z.int(),
      cause: z.string(),
      hint: z.string(),
      operations: z.array(z.string()).meta({ description: "Those that name it; some codes can come from all" }),
    }),
    run: async ({ code }) => {
      const known = ERROR_CODES.find((one) => one === code);
      if (known === undefined) {
        const meant = findClosest(code, ERROR_CODES);
        throw new ToolError(
          `There is no error code ${code}.`,
          meant === null ? `There are: ${ERROR_CODES.join(", ")}` : `Did you mean ${meant}?`,
        );
      }
      const { status, cause, hint } = ERRORS[known];
      const operations = listOperations().filter(({ endpoint }) => endpoint.errors?.includes(known));
      return { code: known, status, cause, hint, operations: operations.map(({ id }) => id) };
    },
    text: ({ code, status, cause, hint }) => `${code} (${status}): ${cause}\n${hint}`,
  }),
];

/** Describes the right that an operation requires of a key. */
export function describeGrant(access: Parameters<typeof requiredGrant>[0]): string {
  return requiredGrant(access) ?? (access === "dev" ? "dev mode" : "any key");
}
