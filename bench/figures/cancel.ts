import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyActivation, type Hook, startHook } from "../../test/support/marketplace.ts";
import { type Ready, startServer } from "../../test/support/server.ts";
import { call } from "../contenders.ts";
import { onCore } from "../cores.ts";
import { type Bench, median } from "../figure.ts";

const ACTIVATIONS = 10_000;
const ROUNDS = 3;
const PATIENCE_MS = 60_000;
const MARKET = "/api/v1/marketplace";

/** Time until an agent taken out of the catalog is off everywhere. */
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

async function started(data: string): Promise<{ at: { url: string; apiKey: string }; stop(): Promise<unknown> }> {
  const server = startServer({ data, flags: ["--dev"], before: onCore(0) });
  const ready: Ready | null = await server.ready();
  if (!ready?.apiKey) throw new Error(`The server did not start:\n${server.stderr()}`);
  return { at: { url: ready.url, apiKey: ready.apiKey }, stop: () => server.kill("SIGTERM") };
}

async function keyOf({ came }: Hook): Promise<string> {
  while (came.length === 0) await new Promise((next) => setTimeout(next, 10));
  return came[0]?.event.apiKey ?? "";
}

async function round(): Promise<{ dead: number; told: number }> {
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
    const key = await keyOf(hook);
    await first.stop();
    copyActivation(join(data, "mailsvc.db"), id, ACTIVATIONS - 1);
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
}
