import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { exim, openSmtpd } from "./debian-relays.ts";
import { haraka, postfix } from "./mail-servers.ts";
import { NextMailServer } from "./mailserver.ts";
import { APPS } from "./process.ts";
import { bullmqAlways, graphileWorker, pgBoss } from "./queues.ts";
import { sendMails } from "./sender.ts";
import type { Stack } from "./stack.ts";
import type { Engine } from "./workflows/engine.ts";
import { kitOnPostgres, kitOnSqlite } from "./workflows/kit.ts";
import { Ledger } from "./workflows/ledger.ts";
import { dbos, restate } from "./workflows/peers.ts";
import { measureEngine } from "./workflows/trial.ts";

// They are installed by the first run of the comparison.
const isInstalled = existsSync(`${APPS}node_modules`);

const STACKS: readonly Stack[] = [bullmqAlways, graphileWorker, pgBoss, postfix, exim, openSmtpd, haraka];

test.skipIf(!isInstalled).each(STACKS)("$name delivers what it has taken", async (stack) => {
  if (stack.missing() !== null) return;
  const next = await NextMailServer.start();
  const running = await stack.start(next.port);
  const acknowledged = await sendMails(running.entrance, 5, (count) => count >= 20);
  await expect.poll(() => [...acknowledged].filter((n) => !next.taken.has(n))).toEqual([]);
  await running.stop();
  await next.stop();
});

const ENGINES: readonly Engine[] = [kitOnSqlite, kitOnPostgres, dbos, restate];

test.skipIf(!isInstalled).each(ENGINES)("$name does the steps of its workflows", async (engine) => {
  if (engine.missing() !== null) return;
  const ledger = await Ledger.start();
  const { rate } = await measureEngine(engine, ledger, 1000);
  expect(rate).toBeGreaterThan(0);
  await ledger.stop();
});
