import { Buffer } from "node:buffer";
import type { Agent } from "../agent.ts";
import { ParsedBodyError } from "../errors.ts";
import type { Reply, RequestHeaders } from "../receive.ts";
import { METHOD_NOT_ALLOWED } from "./raw-body.ts";

/** An event of API Gateway, version 1 or 2, of a function URL, or of a load balancer. */
export interface LambdaEvent {
  readonly body?: unknown;
  readonly isBase64Encoded?: boolean;
  readonly headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  /** In place of `headers` behind a load balancer with multi-value headers; in addition to them in version 1. */
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null | undefined;
  readonly httpMethod?: string;
  readonly requestContext?: { readonly http?: { readonly method?: string } } | unknown;
}

/** The response, as both versions accept it. */
export interface LambdaResult {
  statusCode: number;
  headers: Record<string, string>;
  /** Only for a load balancer with multi-value headers, which reads no others. */
  multiValueHeaders?: Record<string, string[]>;
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
    const method = event.httpMethod ?? methodOf(event.requestContext);
    const { status, headers, body } =
      method === undefined || method === "POST" ? await handleLambda(agent, event, work) : METHOD_NOT_ALLOWED;
    await Promise.allSettled(work);
    const multiValueHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    const wantsMany = event.multiValueHeaders && !event.headers;
    return { statusCode: status, headers: { ...headers }, ...(wantsMany && { multiValueHeaders }), body, isBase64Encoded: false };
  };
}

async function handleLambda(agent: Agent, event: LambdaEvent, work: Promise<unknown>[]): Promise<Reply> {
  const { body, isBase64Encoded } = event;
  if (typeof body === "object" && body !== null) return agent.refuse(new ParsedBodyError(REMEDY));
  const text = typeof body === "string" ? body : "";
  const bytes = isBase64Encoded ? new Uint8Array(Buffer.from(text, "base64")) : text;
  return agent.handle(bytes, headersOf(event), { waitUntil: (one) => work.push(one) });
}

/** A header that came once is a text; one that came several times is a list, which the agent refuses where it matters. */
function headersOf({ headers, multiValueHeaders }: LambdaEvent): RequestHeaders {
  const single = Object.entries(multiValueHeaders ?? {}).map(([name, values]) => [name, values?.length === 1 ? values[0] : values]);
  return { ...headers, ...Object.fromEntries(single) };
}

/** The method in version 2. */
function methodOf(context: LambdaEvent["requestContext"]): string | undefined {
  return (context as { http?: { method?: string } } | undefined)?.http?.method;
}
