import type { ChildProcess } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postfixMissing, startPostfix } from "../../packages/server/test/postfix.ts";
import { freePort } from "../../test/support/free-port.ts";
import { onFirstCore } from "./postgres.ts";
import { APPS, killProgram, listening, startProgram } from "./process.ts";
import { CONNECTIONS, type Stack } from "./stack.ts";

export const postfix: Stack = {
  name: "Postfix as a relay",
  durability: "flushed before the answer",
  missing: postfixMissing,
  start: async (smtpPort) => {
    const server = await startPostfix({
      mynetworks: "127.0.0.0/8",
      smtpd_relay_restrictions: "permit_mynetworks, reject",
      smtpd_recipient_restrictions: "permit_mynetworks, reject",
      smtpd_client_connection_count_limit: "0",
      relayhost: `[127.0.0.1]:${smtpPort}`,
      default_destination_concurrency_limit: `${CONNECTIONS}`,
      initial_destination_concurrency: `${CONNECTIONS}`,
      smtp_connection_cache_on_demand: "yes",
      // A mail that a kill left in the queue is tried again at once.
      minimal_backoff_time: "1s",
      queue_run_delay: "1s",
    });
    onFirstCore(server.pid());
    return {
      entrance: { kind: "smtp", port: server.port },
      pids: () => [server.pid()],
      kill: server.kill,
      restart: async () => {
        await server.restart();
        onFirstCore(server.pid());
      },
      listInDoubt: async () => [],
      stop: server.stop,
    };
  },
};

export const haraka: Stack = {
  name: "Haraka as a relay",
  durability: "flushed before the answer",
  missing: () => null,
  start: async (smtpPort) => {
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-haraka-"));
    const port = await freePort();
    configureHaraka(folder, port, smtpPort);
    let child: ChildProcess | null = null;
    const run = async (): Promise<void> => {
      child = startProgram([process.execPath, join(APPS, "node_modules/haraka/bin/haraka"), "-c", folder], folder);
      child.stdout?.resume();
      await listening(port, true);
    };
    await run();
    return {
      entrance: { kind: "smtp", port },
      pids: () => [child?.pid ?? 0],
      kill: () => killProgram(child),
      restart: run,
      listInDoubt: async () => [],
      stop: async () => {
        await killProgram(child);
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

/** Mail of this machine goes into the queue of outbound mail, and from there to the next mail server. */
function configureHaraka(folder: string, port: number, smtpPort: number): void {
  const files: Readonly<Record<string, string>> = {
    "config/smtp.ini": `listen=127.0.0.1:${port}\nnodes=0\n`,
    "config/log.ini": "level=crit\n",
    "config/me": "relay.example\n",
    "config/plugins": "relay\nnext_server\n",
    "config/relay.ini": "[relay]\nacl=true\nforce_routing=false\n",
    "config/relay_acl_allow": "127.0.0.1/32\n",
    "config/outbound.ini": `concurrency_max=${CONNECTIONS}\nenable_tls=false\nlocal_mx_ok=true\ninet_prefer=v4\n`,
    "config/host_list": "relay.example\n",
    "config/outbound.allow_local": "",
    "plugins/next_server.js": nextServer(smtpPort),
  };
  for (const name of ["config", "plugins", "queue"]) mkdirSync(join(folder, name));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  // It does not answer without this file.
  copyFileSync(join(APPS, "node_modules/haraka/config/connection.ini"), join(folder, "config/connection.ini"));
}

/** A plugin that names the next mail server, and spares the load its lookups in the DNS. */
function nextServer(smtpPort: number): string {
  return [
    `exports.hook_get_mx = (next) => next(OK, { priority: 0, exchange: "127.0.0.1", port: ${smtpPort} });`,
    'exports.hook_lookup_rdns = (next) => next(OK, "load.example");',
    "",
  ].join("\n");
}
