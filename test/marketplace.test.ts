import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifySignature } from "../packages/agent-kit/src/index.ts";
import { type Api, call, total, until } from "./support/api.ts";
import { copyActivation, type Hook, startHook } from "./support/marketplace.ts";
import { type ServerProcess, startServer } from "./support/server.ts";

const MARKET = "/api/v1/marketplace";
const COPIES = 2000;

let folder = "";
let hook: Hook;
let running: ServerProcess | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-market-"));
  hook = await startHook();
});
afterEach(async () => {
  await running?.kill("SIGKILL");
  hook.close();
  rmSync(folder, { recursive: true, force: true });
});

const start = async (): Promise<Api> => {
  running = startServer({ data: join(folder, "data"), flags: ["--dev"] });
  const ready = await running.ready();
  if (!ready?.apiKey) throw new Error(`The server did not start:\n${running.stderr()}`);
  return { url: ready.url, apiKey: ready.apiKey };
};

/** Lists an agent at the hook and turns it on. */
const turnOn = async (api: Api): Promise<{ id: string; secret: string }> => {
  const listing = { slug: "agent", name: "Agent", webhookUrl: hook.url, permissions: ["brand:read"] };
  const { webhookSecret } = (await call(api, "POST", `${MARKET}/listings`, listing)) as { webhookSecret: string };
  const payment = (await call(api, "POST", `${MARKET}/listings/agent/checkout`)) as { id: string };
  await call(api, "POST", `${MARKET}/payments/${payment.id}/confirm`);
  const { id } = (await call(api, "POST", `${MARKET}/activations`, { agentSlug: "agent", acceptedPermissions: ["brand:read"] })) as {
    id: string;
  };
  return { id, secret: webhookSecret };
};

const asAgent = ({ url }: Api, id: string, key: string): Promise<number> =>
  fetch(`${url}/api/agents/activations/${id}`, { headers: { authorization: `Bearer ${key}` } }).then((r) => r.status);

const arrived = (n: number, type: string): Promise<void> =>
  until(
    60,
    async () => hook.came.filter(({ event }) => event.type === type).length >= n,
    async () => `${hook.came.length} events came`,
  );

test("the shipped server brings a key to its webhook, signed, and the key opens what was agreed to", async () => {
  const api = await start();
  const { id, secret } = await turnOn(api);
  await arrived(1, "agent.activated");
  const [first] = hook.came;
  expect(verifySignature({ body: first?.body ?? "", signature: first?.signature, secrets: secret })).toBe(0);
  expect(await asAgent(api, id, first?.event.apiKey ?? "")).toBe(200);
});

test("killed while it ends an agent's activations, the server goes on afterwards: all are told, and each once", async () => {
  const before = await start();
  const { id } = await turnOn(before);
  await arrived(1, "agent.activated");
  const key = hook.came[0]?.event.apiKey ?? "";
  await running?.kill("SIGTERM");
  copyActivation(join(folder, "data", "mailsvc.db"), id, COPIES - 1);
  hook.came.length = 0;

  const first = await start();
  await call(first, "POST", `${MARKET}/listings/agent/cancel`);
  expect(await asAgent(first, id, key)).toBe(401);
  await arrived(1, "agent.deactivated");
  await running?.kill("SIGKILL");

  const second = await start();
  expect(await asAgent(second, id, key)).toBe(401);
  const told = `${MARKET}/listings/agent/deliveries?type=agent.deactivated`;
  await until(
    60,
    async () => (await total(second, `${told}&state=delivered`)) === COPIES,
    async () => `${await total(second, told)} are told of, ${hook.came.length} came`,
  );
  expect(await total(second, told)).toBe(COPIES);
  expect(await total(second, `${MARKET}/listings/agent/activations?status=active`)).toBe(0);
  // Events on their way when the server died came again, as the same event.
  const events = new Map(hook.came.map(({ event, body }) => [event.id, body]));
  expect(events.size).toBe(COPIES);
  expect(new Set(hook.came.map(({ event }) => event.activationId)).size).toBe(COPIES);
  for (const { event, body } of hook.came) expect(body).toBe(events.get(event.id));
  expect(hook.came.length).toBeLessThan(COPIES + 500);
});
