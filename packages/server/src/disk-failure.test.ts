import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { readConfig } from "./config.ts";
import { Flusher } from "./db/sqlite/flush.ts";
import { silentLog } from "./lib/log.ts";
import { serve } from "./serve.ts";

test("after a failed flush the request is answered 503, and the process ends with a status that has it restarted", async () => {
  const data = mkdtempSync(join(tmpdir(), "mailsvc-disk-"));
  const errors: string[] = [];
  const log = { ...silentLog, error: (message: string) => void errors.push(message) };
  const server = await serve(readConfig({ flags: { data, port: "0" }, env: {}, dev: true }), log);
  const exit = vi.spyOn(process, "exit");
  const exited = new Promise<unknown>((resolve) => {
    exit.mockImplementation(((status: unknown) => resolve(status)) as never);
  });
  const flush = vi.spyOn(Flusher.prototype, "flush").mockRejectedValue(Object.assign(new Error("i/o error"), { code: "EIO" }));
  const response = await fetch(`${server.url}/api/v1/contacts`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ email: "ada@example.com" }),
  });
  expect([response.status, exit.mock.calls.length]).toEqual([503, 0]);
  expect(await exited).toBe(74);
  expect(errors).toContain("the disk failed; the process ends, so that its supervisor starts it again");
  flush.mockRestore();
  await server.close();
  exit.mockRestore();
  rmSync(data, { recursive: true, force: true });
});
