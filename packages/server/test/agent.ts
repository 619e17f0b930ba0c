import { crc32, deflateSync } from "node:zlib";
import { AGENT_SCOPES, type AgentScope } from "@mailsvc/sdk/contract";
import type { TestWorld } from "../src/testing.ts";
import { activateAgent, agentPath, getAgentKey, listAgent, startReceiver } from "./marketplace.ts";

/** A response whose body has been read. */
export interface AgentAnswer {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the endpoint answers; tests look at what they expect
  readonly body: any;
  readonly headers: Headers;
}

/** An active agent with its key, for raw requests. */
export interface TestAgent {
  readonly activationId: string;
  readonly key: string;
  path(rest?: string): string;
  call(method: string, rest: string, body?: unknown, headers?: Record<string, string>): Promise<AgentAnswer>;
}

/** The builder of a world lists an agent, and its brand turns it on. */
export async function createTestAgent(
  world: TestWorld,
  { slug = "writer", permissions = [...AGENT_SCOPES] }: { slug?: string; permissions?: AgentScope[] } = {},
): Promise<TestAgent> {
  await using hooks = await startReceiver();
  await listAgent(world.builder.sdk, hooks.url, { slug, permissions });
  const { id } = await activateAgent(world.sdk, slug);
  // The key may arrive between reading the outbox and the webhook; then the second attempt finds it at the webhook.
  const key = await getAgentKey(world, hooks, id).catch(() => getAgentKey(world, hooks, id));
  await world.settle();
  return {
    activationId: id,
    key,
    path: (rest = "") => agentPath(id, rest),
    call: async (method, rest, body, headers = {}) => {
      const form = body instanceof FormData;
      const response = await world.fetch(world.url + agentPath(id, rest), {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body !== undefined && !form && { "content-type": "application/json" }), ...headers },
        ...(body !== undefined && { body: form ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, text, body: text === "" ? null : JSON.parse(text), headers: response.headers };
    },
  };
}

/** A PNG of one color. `claims` is the size in its header, if it differs from the real one. */
export function png(width = 4, height = 3, color: readonly number[] = [20, 90, 80], claims = { width, height }): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(claims.width, 0);
  header.writeUInt32BE(claims.height, 4);
  header.set([8, 2], 8);
  const row = Buffer.concat([Buffer.of(0), Buffer.from(Array.from({ length: width * 3 }, (_, i) => color[i % 3] ?? 0))]);
  const rows = deflateSync(Buffer.concat(Array<Buffer>(height).fill(row)));
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", rows),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A small file with the first and last bytes of a PDF. */
export function pdf(text = "hello"): Buffer {
  return Buffer.from(`%PDF-1.7\n${text}\n%%EOF\n`);
}

/** A ZIP of empty files with these names; `content` is that of the first. */
export function zip(names: readonly string[], content = ""): Buffer {
  const parts: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  names.forEach((name, i) => {
    const data = Buffer.from(i === 0 ? content : "");
    const local = Buffer.alloc(30);
    local.writeUInt32BE(0x504b0304);
    local.writeUInt32LE(crc32(data), 14);
    local.writeUInt32LE(data.length, 18);
    local.writeUInt32LE(data.length, 22);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32BE(0x504b0102);
    entry.writeUInt32LE(crc32(data), 16);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt32LE(data.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(at, 42);
    parts.push(local, Buffer.from(name), data);
    at += 30 + name.length + data.length;
    entries.push(entry, Buffer.from(name));
  });
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32BE(0x504b0506);
  end.writeUInt16LE(names.length, 8);
  end.writeUInt16LE(names.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, directory, end]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}
