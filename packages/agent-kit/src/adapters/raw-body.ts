import type { Agent } from "../agent.ts";
import { ParsedBodyError } from "../errors.ts";
import { MAX_BODY, type Reply, reply } from "../receive.ts";

/** @internal The answer to other methods than POST. */
export const METHOD_NOT_ALLOWED: Reply = {
  status: 405,
  headers: { allow: "POST", "content-type": "application/json" },
  body: '{"error":"method_not_allowed"}',
};

/** @internal A body that a framework has already read: as bytes or text, or null if it is still to be read. Throws ParsedBodyError. */
export function takeBody(body: unknown, remedy: string): Uint8Array | string | null {
  if (body instanceof Uint8Array || typeof body === "string") return body;
  if (body === undefined || body === null) return null;
  throw new ParsedBodyError(remedy);
}

/**
 * @internal Reads a body to its end, so that the answer arrives, and keeps no more than the agent takes: of what is longer, one byte too many,
 * which the agent refuses.
 */
export async function readBytes(source: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const kept: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of source) {
    const room = MAX_BODY + 1 - length;
    if (room <= 0) continue;
    kept.push(chunk.length > room ? chunk.slice(0, room) : chunk);
    length += Math.min(room, chunk.length);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of kept) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/**
 * @internal Answers a request whose body is read by `read`. A sender that hangs up in the middle is not an error: anyone can do so, without
 * the secret.
 */
export async function answerBody(
  agent: Agent,
  read: () => Promise<Uint8Array | string>,
  handle: (body: Uint8Array | string) => Promise<Reply>,
): Promise<Reply> {
  let body: Uint8Array | string;
  try {
    body = await read();
  } catch (error) {
    if (error instanceof ParsedBodyError) return agent.refuse(error);
    return reply(400, { error: "incomplete_body", hint: "The body ended before it was complete." });
  }
  return handle(body);
}
