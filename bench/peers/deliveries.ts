// Sends signed-size JSON bodies to a webhook as fast as it can, and prints how many a second that were: `mailsvc` is the
// outbox of the server, every attempt and state on disk; `pool` is a bare undici Pool, which signs nothing and writes nothing down;
// `receiver` is the webhook, which prints its port.
//
//   node --import ./scripts/sources.mjs deliveries.ts <mailsvc|pool> <port> <events> <connections>
//   node --import ./scripts/sources.mjs deliveries.ts receiver
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import { createApp } from "../../packages/server/src/app.ts";
import { sqliteBackend } from "../../packages/server/src/backend.sqlite.ts";
import { readConfig } from "../../packages/server/src/config.ts";
import { systemClock } from "../../packages/server/src/lib/clock.ts";
import { silentLog } from "../../packages/server/src/lib/log.ts";
import { secureRandom } from "../../packages/server/src/lib/random.ts";
import { makeSecret, sealSecret } from "../../packages/server/src/marketplace/listings/webhook.ts";

const [which, port = "0", count = "0", connections = "0"] = process.argv.slice(2);
const EVENTS = Number(count);
const URL = `http://127.0.0.1:${port}/webhook`;
// Each agent has had a few things happen to it.
const PER_ACTIVATION = 2;

const bodyOf = (id: string, activationId: string, sequence: number): string =>
  JSON.stringify({
    id,
    type: "approval_response",
    activationId,
    runId: "run_01kdvdna00bktj2mqmcfs0rmrb",
    sequence,
    timestamp: new Date(1_800_000_000_000).toISOString(),
    messageId: "msg_01kdvdna00bktj2mqmcfs0rmrb",
    decision: "approved",
    comment: "Looks good to me; please send it on Monday morning, not before nine.",
    answeredAt: new Date(1_800_000_000_000).toISOString(),
  });

const receiver = (): void => {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => response.writeHead(200, { "content-length": "0" }).end());
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
};

/** Events a second. */
const ours = async (): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-"));
  const app = await createApp({
    config: readConfig({ flags: { data: folder }, env: {}, dev: true }),
    version: "bench",
    backend: await sqliteBackend(folder),
    clock: systemClock,
    random: secureRandom(),
    log: silentLog,
    dns: { txt: async () => [] },
    baseUrl: () => "http://127.0.0.1",
  });
  const { deps } = app;
  const now = deps.clock.now();
  const workspaceId = app.first.workspaceId;
  const listingId = deps.ids("lst");
  await deps.db.tx((tx) =>
    tx.insert(tx.t.listings).values({
      id: listingId,
      workspaceId,
      slug: "bench",
      name: "Bench",
      description: "",
      webhookUrl: URL,
      permissions: [],
      state: "LISTED",
      period: 1,
      secret: sealSecret(deps, listingId, makeSecret(deps.random)),
      createdAt: now,
      updatedAt: now,
    }),
  );
  for (let i = 0; i < EVENTS; i += 1000)
    await deps.db.tx(async (tx) => {
      const activations = Array.from({ length: Math.min(1000, EVENTS - i) / PER_ACTIVATION }, () => deps.ids("act"));
      await tx.insertAll(
        tx.t.deliveryLanes,
        activations.map((activationId) => ({ activationId, listingId, period: 1, dueAt: now, claim: null, held: false })),
      );
      await tx.insertAll(
        tx.t.agentEvents,
        activations.flatMap((activationId) =>
          Array.from({ length: PER_ACTIVATION }, (_, n) => {
            const id = deps.ids("evt");
            const body = bodyOf(id, activationId, n + 1);
            const rest = { runId: null, sealed: null, lastAt: null, lastMs: null, lastClass: null, lastStatus: null };
            const state = { state: "pending" as const, attempts: 0, tries: 0, dueAt: now, lastError: null, lastAnswer: null, settledAt: null };
            return { id, activationId, listingId, workspaceId, type: "approval_response" as const, sequence: n + 1, at: now, body, ...rest, ...state };
          }),
        ),
      );
    });
  const cpu = process.cpuUsage();
  const from = performance.now();
  deps.deliveries.wake([listingId]);
  await deps.queue.idle();
  const took = performance.now() - from;
  const c=process.cpuUsage(cpu); console.error('cpu us/event', (c.user+c.system)/EVENTS, 'commits', (deps.db as any).gate.stats);
  const { agentEvents: e } = deps.db.read.t;
  const rows = await deps.db.read.select({ state: e.state }).from(e);
  const arrived = rows.filter(({ state }) => state === "delivered").length;
  if (arrived !== EVENTS) throw new Error(`Of ${EVENTS} events ${arrived} arrived.`);
  await app.close();
  rmSync(folder, { recursive: true, force: true });
  return (EVENTS * 1000) / took;
};

/** Requests a second. */
const pool = async (): Promise<number> => {
  const atATime = Number(connections);
  const origin = new Pool(`http://127.0.0.1:${port}`, { connections: atATime });
  const bodies = Array.from({ length: EVENTS }, (_, n) =>
    bodyOf("evt_01kdvdna00bktj2mqmcfs0rmrb", "act_01kdvdna00bktj2mqmcfs0rmrb", n),
  );
  let at = 0;
  const headers = { "content-type": "application/json" };
  const work = async (): Promise<void> => {
    for (let body = bodies[at++]; body !== undefined; body = bodies[at++]) {
      const answer = await origin.request({ path: "/webhook", method: "POST", headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`The receiver answered ${answer.statusCode}.`);
    }
  };
  const cpu = process.cpuUsage();
  const from = performance.now();
  await Promise.all(Array.from({ length: atATime }, work));
  const took = performance.now() - from;
  const c=process.cpuUsage(cpu); console.error('cpu us/event', (c.user+c.system)/EVENTS);
  await origin.close();
  return (EVENTS * 1000) / took;
};

if (which === "receiver") receiver();
else {
  const perSecond = await (which === "mailsvc" ? ours() : pool());
  process.stdout.write(`${perSecond}\n`);
  process.exit(0);
}
