import { Buffer } from "node:buffer";
import type { Agent } from "../agent.ts";
import { ParsedBodyError } from "../errors.ts";
import type { Reply } from "../receive.ts";

/** An event of API Gateway, version 1 or 2, of a function URL, or of a load balancer. */
export interface LambdaEvent {
  readonly body?: unknown;
  readonly isBase64Encoded?: boolean;
  readonly headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  readonly httpMethod?: string;
  readonly requestContext?: { readonly http?: { readonly method?: string } } | unknown;
}

/** The response, as both versions accept it. */
export interface LambdaResult {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  isBase64Encoded: false;
}

const REMEDY = "In Lambda, remove the JSON body parser for this function (with Middy: httpJsonBodyParser), so that event.body is a text.";

/**
 * A handler for AWS Lambda: `export const handler = lambdaHandler(agent)`. As Lambda freezes a function after its response, the
 * response waits for the work on the event: create the agent with `mode: "inline"` and a store that the functions share.
 */
export function lambdaHandler(agent: Agent): (event: LambdaEvent) => Promise<LambdaResult> {
  return async (event) => {
    const work: Promise<unknown>[] = [];
    const { status, headers, body } = await handleLambda(agent, event, work);
    await Promise.allSettled(work);
    return { statusCode: status, headers: { ...headers }, body, isBase64Encoded: false };
  };
}

async function handleLambda(agent: Agent, { body, isBase64Encoded, headers }: LambdaEvent, work: Promise<unknown>[]): Promise<Reply> {
  try {
    if (typeof body === "object" && body !== null) throw new ParsedBodyError(REMEDY);
    const text = typeof body === "string" ? body : "";
    const bytes = isBase64Encoded ? new Uint8Array(Buffer.from(text, "base64")) : text;
    return await agent.handle(bytes, headers ?? {}, { waitUntil: (one) => work.push(one) });
  } catch (error) {
    return agent.refuse(error);
  }
}
