import type { z } from "zod";
import { type Api, type Me, readArguments } from "./api.ts";
import type { McpSettings } from "./config.ts";
import type { Confirmation } from "./confirmation.ts";
import type { DocsLibrary } from "./docs-library.ts";
import { type ObjectSchema, toObjectSchema } from "./schemas.ts";

/** Context of a tool during one call. */
export interface ToolContext {
  readonly api: Api;
  /** Asked for when it is needed. */
  readonly me: () => Promise<Me>;
  readonly settings: McpSettings;
  readonly docs: DocsLibrary;
  /** Asks the person before a write. */
  readonly confirmation: Confirmation;
}

/** Hints for clients, as the protocol calls them. */
interface Annotations {
  /** Changes nothing. */
  readonly readOnlyHint: boolean;
  /** May delete or replace something, or do what cannot be taken back. */
  readonly destructiveHint: boolean;
  /** The same call again changes nothing more. */
  readonly idempotentHint: boolean;
  /** Reaches people or systems outside of the service. */
  readonly openWorldHint: boolean;
}

/** Condition for offering a tool: none, writes allowed, or dev mode. */
export type Needs = "nothing" | "writes" | "dev";

/** The result of a call: an object that fits the schema, and a text for clients that show only that. */
interface ToolResult {
  readonly data: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly needs: Needs;
  readonly annotations: Annotations;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  /** Throws ToolError, and Unconfirmed when a person has to be asked first. */
  run(input: Readonly<Record<string, unknown>>, context: ToolContext): Promise<ToolResult>;
}

const READS: Annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

interface ToolParts<I extends z.ZodObject, O extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly needs?: Needs;
  readonly annotations?: Partial<Annotations>;
  readonly input: I;
  readonly output: O;
  readonly run: (input: z.output<I>, context: ToolContext) => Promise<z.input<O>>;
  /** A short text of the result; by default its JSON. */
  readonly text?: (output: z.input<O>) => string;
}

/** Makes a tool that is more than a call of one operation. Its arguments are checked here. */
export function defineTool<I extends z.ZodObject, O extends z.ZodObject>(parts: ToolParts<I, O>): Tool {
  const { name, title, description, needs = "nothing", annotations, input, output, run, text = toText } = parts;
  return {
    ...{ name, title, description, needs },
    annotations: { ...READS, ...annotations },
    inputSchema: toObjectSchema(input, "input"),
    outputSchema: toObjectSchema(output, "output"),
    run: async (given, context) => {
      const data = await run(readArguments(name, input, given), context);
      return { data, text: text(data) };
    },
  };
}

// A client that understands structured content shows that; others get the beginning of it.
const MAX_TEXT = 4000;

/** A result as JSON, cut. */
export function toText(data: unknown): string {
  const json = JSON.stringify(data);
  return json.length <= MAX_TEXT ? json : `${json.slice(0, MAX_TEXT)} … (cut; the whole is in the structured content)`;
}
