import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, createApp } from "../../packages/server/src/app.ts";
import { sqliteBackend } from "../../packages/server/src/backend.sqlite.ts";
import { readConfig } from "../../packages/server/src/config.ts";
import { systemClock } from "../../packages/server/src/lib/clock.ts";
import { noRecords } from "../../packages/server/src/lib/domain-records.ts";
import { silentLog } from "../../packages/server/src/lib/log.ts";
import { secureRandom } from "../../packages/server/src/lib/random.ts";

/** Starts a server without a port in this process, with a fresh database on disk. */
export async function startApp(): Promise<{ app: App; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-"));
  const app = await createApp({
    config: readConfig({ flags: { data: folder }, env: {}, dev: true }),
    version: "bench",
    backend: await sqliteBackend(folder),
    clock: systemClock,
    random: secureRandom(),
    log: silentLog,
    dns: noRecords,
    baseUrl: () => "http://127.0.0.1",
  });
  return {
    app,
    stop: async () => {
      await app.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
