import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyActivation, copyRuns, type Hook, startHook } from "../../test/support/marketplace.ts";
import { type Ready, startServer } from "../../test/support/server.ts";
import { call } from "../contenders.ts";
import { onCore } from "../cores.ts";
import { type Bench, median } from "../figure.ts";

const ACTIVATIONS = 100;
const LIVE_EACH = 1000;
// Runs of each activation that fall silent one second after the first.
const MANY_EACH = 10;
const WINDOW_MS = 15 * 60_000;
// Between the last heartbeats and the silence: time to start again.
const AHEAD_MS = 20_000;
const ROUNDS = 3;
const PATIENCE_MS = 60_000;
const MARKET = "/api/v1/marketplace";
const SCOPES = ["agent:write_runs"];

/** Time to find silent runs among those at work. */
export const runs: Bench = {
  name: "runs",
  meaning: `Of ${count(ACTIVATIONS * LIVE_EACH)} runs at work, ${ACTIVATIONS} more fall silent at one instant, and ${count(ACTIVATIONS * MANY_EACH)} a second later. sweep: from the first instant until those have FAILED on disk, each with its run_force_failed in the outbox. fail: how many a second do so of the many, while their events are being delivered.`,
  run: async () => {
    const rounds: { sweep: number; many: number }[] = [];
    for (let i = 0; i < ROUNDS; i++) rounds.push(await round());
    const sweep = rounds.map((r) => r.sweep);
    const rate = rounds.map((r) => (ACTIVATIONS * MANY_EACH * 1000) / r.many);
    return [
      { name: "runs.sweep", value: median(sweep), unit: "ms", against: null, ratio: null, goal: { op: "<", than: 200 }, rounds: sweep },
      { name: "runs.fail", value: median(rate), unit: "runs/s", against: null, ratio: null, rounds: rate },
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

/** A database with 100,000 runs at work; of each activation's runs one falls silent at `silentAt`, and ten a second later. */
async function fill(data: string, hook: Hook, silentAt: () => number): Promise<void> {
  const first = await started(data);
  await call(first.at, "POST", `${MARKET}/listings`, { slug: "agent", name: "Agent", webhookUrl: hook.url, permissions: SCOPES });
  const payment = (await call(first.at, "POST", `${MARKET}/listings/agent/checkout`)) as { id: string };
  await call(first.at, "POST", `${MARKET}/payments/${payment.id}/confirm`);
  const wanted = { agentSlug: "agent", acceptedPermissions: SCOPES };
  const { id } = (await call(first.at, "POST", `${MARKET}/activations`, wanted)) as { id: string };
  const agent = { url: first.at.url, apiKey: await keyOf(hook) };
  await call(agent, "POST", `/api/agents/activations/${id}/runs/start`, {});
  await first.stop();
  const file = join(data, "mailsvc.db");
  copyActivation(file, id, ACTIVATIONS - 1);
  const silent = silentAt();
  // The others were heard of just before the server went down.
  const heardAt = (copy: number): number => {
    if (copy === 1) return silent - WINDOW_MS;
    return copy <= 1 + MANY_EACH ? silent + 1000 - WINDOW_MS : silent - AHEAD_MS - copy;
  };
  copyRuns(file, LIVE_EACH + 1 + MANY_EACH, heardAt, WINDOW_MS);
}

async function failed(at: { url: string; apiKey: string }): Promise<number> {
  const page = (await call(at, "GET", `${MARKET}/listings/agent/deliveries?limit=1&type=run_force_failed`)) as {
    pagination: { total: number };
  };
  return page.pagination.total;
}

/** Moves time on a second, and answers how long it took, ms, until this many runs had failed. */
async function next(at: { url: string; apiKey: string }, expected: number): Promise<number> {
  const from = performance.now();
  const advanced = call(at, "POST", "/__dev/clock/advance", { by: "1s" });
  while ((await failed(at)) < expected) {
    if (performance.now() - from > PATIENCE_MS) throw new Error(`Only ${await failed(at)} of ${expected} runs have failed.`);
    await new Promise((again) => setTimeout(again, 2));
  }
  const took = performance.now() - from;
  await advanced;
  return took;
}

async function round(): Promise<{ sweep: number; many: number }> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-"));
  const hook = await startHook();
  try {
    const data = join(folder, "data");
    let silentAt = 0;
    await fill(data, hook, () => {
      silentAt = Date.now() + AHEAD_MS;
      return silentAt;
    });
    const { at, stop } = await started(data);
    await call(at, "POST", "/__dev/clock/freeze", { at: new Date(silentAt - 1000).toISOString() });
    if ((await failed(at)) > 0) throw new Error("Runs failed before their time.");
    const sweep = await next(at, ACTIVATIONS);
    const many = await next(at, ACTIVATIONS * (1 + MANY_EACH));
    await stop();
    return { sweep, many };
  } finally {
    hook.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function count(n: number): string {
  return n.toLocaleString("en-US");
}
