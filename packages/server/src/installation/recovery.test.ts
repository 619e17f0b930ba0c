import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDatabase } from "../../test/postgres.ts";
import { type Config, readConfig } from "../config.ts";
import { silentLog } from "../lib/log.ts";
import { recoverOperatorKey, recoverOwnerKey } from "../maintenance.ts";
import { type RunningServer, serve } from "../serve.ts";

let data: string;
let server: RunningServer | null = null;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "mailsvc-recovery-"));
});
afterEach(async () => {
  await server?.close();
  server = null;
  rmSync(data, { recursive: true, force: true });
});

const config = (flags: Record<string, string> = {}): Config => readConfig({ flags: { port: "0", data, ...flags }, env: {}, dev: false });
const start = async (flags?: Record<string, string>): Promise<RunningServer> => {
  server = await serve(config(flags), silentLog);
  return server;
};
const whoami = async ({ url }: RunningServer, key: string): Promise<{ status: number; body: unknown }> => {
  const response = await fetch(`${url}/api/v1/me`, { headers: { authorization: `Bearer ${key}` } });
  return { status: response.status, body: await response.json() };
};

test("a lost owner key is replaced by another one, and the first one stays valid", async () => {
  const { apiKey, workspaceId, close } = await start();
  await expect(recoverOwnerKey({ data, databaseUrl: null, workspaceId: null })).rejects.toThrow("Another mailsvc server");
  await close();
  const recovered = await recoverOwnerKey({ data, databaseUrl: null, workspaceId: null });
  expect(recovered).toEqual({ workspaceId, apiKey: expect.stringMatching(/^ms_live_/) });
  const again = await start();
  for (const key of [recovered.apiKey, apiKey ?? ""])
    expect(await whoami(again, key)).toMatchObject({ status: 200, body: { workspace: { id: workspaceId }, key: { owner: true } } });
});

test("on Postgres servers may run meanwhile, and accept the key", async () => {
  const database = await createDatabase("empty");
  try {
    const running = await start({ "database-url": database.url });
    const recovered = await recoverOwnerKey({ data, databaseUrl: database.url, workspaceId: running.workspaceId });
    expect(await whoami(running, recovered.apiKey)).toMatchObject({ status: 200, body: { workspace: { id: running.workspaceId } } });
    await running.close();
  } finally {
    await server?.close();
    await database.drop();
  }
});

test("an empty folder and an unknown workspace are refused, and nothing is created", async () => {
  await expect(recoverOwnerKey({ data, databaseUrl: null, workspaceId: null })).rejects.toThrow(`There is no mailsvc.db in ${data}`);
  await (await start()).close();
  await expect(recoverOwnerKey({ data, databaseUrl: null, workspaceId: "ws_nowhere" })).rejects.toMatchObject({ code: "not_found" });
});

test("a lost operator key is replaced by another one, and the lost one is refused", async () => {
  await expect(recoverOperatorKey({ data, databaseUrl: null })).rejects.toThrow(`There is no mailsvc.db in ${data}`);
  const { operatorKey, close } = await start();
  await close();
  const recovered = await recoverOperatorKey({ data, databaseUrl: null });
  expect(recovered).toMatch(/^ms_op_/);
  const again = await start();
  const list = async (key: string | null) =>
    (await fetch(`${again.url}/api/v1/workspaces`, { headers: { authorization: `Bearer ${key}` } })).status;
  expect([await list(recovered), await list(operatorKey)]).toEqual([200, 401]);
});

test("--name names the first workspace, also one that has no name of its own yet, and no other", async () => {
  const first = await start();
  const nameOf = async (server: RunningServer): Promise<string> => {
    const { body } = await whoami(server, first.apiKey ?? "");
    return (body as { workspace: { name: string } }).workspace.name;
  };
  expect(await nameOf(first)).toBe("default");
  await first.close();
  const named = await start({ name: "Acme" });
  expect(await nameOf(named)).toBe("Acme");
  await named.close();
  expect(await nameOf(await start({ name: "Other" }))).toBe("Acme");
  expect(() => config({ name: "A\nB" })).toThrow("--name takes 1 to 200 characters");
});
