import type { ServerContext } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { composeMcp } from "./mcp.ts";

const settings = { version: "1", dev: false, writes: true, writesFlag: "--mcp write", maxRecipients: null, allowTo: [] };
const context = { mcpReq: { method: "tools/call" }, http: { authInfo: { clientId: "key_1" } } } as unknown as ServerContext;

test("a question that was asked before the master key was replaced is answered after it, until the old key is given up", async () => {
  const [older, newer] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  let keys = [older];
  const { codec } = composeMcp({ settings, sealingKeys: () => keys, report: () => {} });
  const before = await codec.mint({ call: "send" }, context);
  keys = [newer, older];
  const after = await codec.mint({ call: "delete" }, context);
  expect(await codec.verify(before, context)).toEqual({ call: "send" });
  expect(await codec.verify(after, context)).toEqual({ call: "delete" });
  // Another process that has not heard of the new key yet does not take what it signed.
  keys = [older];
  await expect(codec.verify(after, context)).rejects.toThrow();
  keys = [newer];
  expect(await codec.verify(after, context)).toEqual({ call: "delete" });
  await expect(codec.verify(before, context)).rejects.toThrow();
});
