import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { type Ready, startServer } from "../../test/support/server.ts";
import { call } from "../contenders.ts";
import { onCore } from "../cores.ts";
import { type Bench, median } from "../figure.ts";

const ACTIVATIONS = 10_000;
const ROUNDS = 3;
const PATIENCE_MS = 60_000;
const MARKET = "/api/v1/marketplace";

/** A builder's webhook: it says yes, and keeps the key. */
const startHook = async () => {
  let key = "";
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      key = (JSON.parse(body) as { apiKey?: string }).apiKey ?? key;
      response.writeHead(200).end();
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    key: async (): Promise<string> => {
      while (key === "") await new Promise((next) => setTimeout(next, 10));
      return key;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

/** Copies an activation, each copy for a brand of its own: there is no other way to so many brands. */
const crowd = (file: string, pattern: string): void => {
  const db = new Database(file);
  const columns = (db.pragma("table_info(activations)") as { name: string }[]).map(({ name }) => name);
  const changed: Record<string, string> = {
    id: "substr(id, 1, 24) || printf('%06d', n)",
    workspace_id: "'ws_' || printf('%026d', n)",
    key_hash: "'hash-' || n",
  };
  const numbers = `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ACTIVATIONS - 1})`;
  const picked = columns.map((name) => changed[name] ?? `"${name}"`).join(", ");
  db.exec(`${numbers} INSERT INTO workspaces (id, name, created_at) SELECT ${changed.workspace_id}, 'brand', 0 FROM numbers`);
  db.prepare(`INSERT INTO activations (${columns.map((name) => `"${name}"`).join(", ")})
    ${numbers} SELECT ${picked} FROM activations, numbers WHERE id = ?`).run(pattern);
  db.close();
};

const started = async (data: string): Promise<{ at: { url: string; apiKey: string }; stop(): Promise<unknown> }> => {
  const server = startServer({ data, flags: ["--dev"], before: onCore(0) });
  const ready: Ready | null = await server.ready();
  if (!ready?.apiKey) throw new Error(`The server did not start:\n${server.stderr()}`);
  return { at: { url: ready.url, apiKey: ready.apiKey }, stop: () => server.kill("SIGTERM") };
};

const round = async (): Promise<{ dead: number; told: number }> => {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-"));
  const data = join(folder, "data");
  const hook = await startHook();
  try {
    const first = await started(data);
    await call(first.at, "POST", `${MARKET}/listings`, { slug: "agent", name: "Agent", webhookUrl: hook.url, permissions: [] });
    const payment = (await call(first.at, "POST", `${MARKET}/listings/agent/checkout`)) as { id: string };
    await call(first.at, "POST", `${MARKET}/payments/${payment.id}/confirm`);
    const wanted = { agentSlug: "agent", acceptedPermissions: [] };
    const { id } = (await call(first.at, "POST", `${MARKET}/activations`, wanted)) as { id: string };
    const key = await hook.key();
    await first.stop();
    crowd(join(data, "mailsvc.db"), id);
    const { at, stop } = await started(data);
    const asAgent = () => fetch(`${at.url}/api/agents/activations/${id}`, { headers: { authorization: `Bearer ${key}` } });
    if ((await asAgent()).status !== 200) throw new Error("The key did not work before.");
    const from = performance.now();
    await call(at, "POST", `${MARKET}/listings/agent/cancel`);
    const refused = await asAgent();
    const dead = performance.now() - from;
    if (refused.status !== 401) throw new Error(`The key still works (${refused.status}).`);
    for (;;) {
      const page = (await call(at, "GET", `${MARKET}/listings/agent/deliveries?limit=1&type=agent.deactivated`)) as {
        pagination: { total: number };
      };
      if (page.pagination.total === ACTIVATIONS) break;
      if (performance.now() - from > PATIENCE_MS) throw new Error(`Only ${page.pagination.total} of ${ACTIVATIONS} were told.`);
      await new Promise((next) => setTimeout(next, 20));
    }
    const told = performance.now() - from;
    await stop();
    return { dead, told };
  } finally {
    hook.close();
    rmSync(folder, { recursive: true, force: true });
  }
};

/** How fast an agent that is taken out of the catalog is out. */
export const cancel: Bench = {
  name: "cancel",
  meaning:
    `A listing with ${ACTIVATIONS.toLocaleString("en-US")} activations is cancelled. dead: from the request until a key of one of them is refused. ` +
    "told: until an event for each of them is in the outbox, while the first are being delivered.",
  run: async () => {
    const rounds: { dead: number; told: number }[] = [];
    for (let i = 0; i < ROUNDS; i++) rounds.push(await round());
    const dead = rounds.map((r) => r.dead);
    const told = rounds.map((r) => r.told / 1000);
    return [
      { name: "cancel.dead", value: median(dead), unit: "ms", against: null, ratio: null, goal: { op: "<", than: 50 }, rounds: dead },
      { name: "cancel.told", value: median(told), unit: "s", against: null, ratio: null, goal: { op: "<", than: 10 }, rounds: told },
    ];
  },
};
