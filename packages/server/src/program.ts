import { parseArgs } from "node:util";
import { ConfigError, DEV_FLAGS, describeIgnoredVariables, readConfig, SERVE_FLAGS } from "./config.ts";
import { StartEnded } from "./database-wait.ts";
import { StorageUnavailable } from "./db/errors.ts";
import { ListenError } from "./http/listen-error.ts";
import { jsonLog } from "./lib/log.ts";
import { toAnnouncement } from "./ready-file.ts";
import { serve } from "./serve.ts";

run().catch((error: Error & { code?: string }) => {
  if (error instanceof StartEnded) process.exit(0);
  process.stderr.write(`${error.message}\n`);
  process.exit(exitCodeOf(error));
});

/** The codes of the command line: 2 for wrong flags, 10 for a database that is away, 7 for data or a port that is not for this server. */
function exitCodeOf(error: Error & { code?: string }): number {
  if (error instanceof ConfigError || error.code?.startsWith("ERR_PARSE_ARGS")) return 2;
  if (error instanceof StorageUnavailable) return error.isAway ? 10 : 7;
  return error instanceof ListenError ? 7 : 1;
}

// The bare server, without the command line tool around it: `node main.js --port 2526`.
async function run(): Promise<void> {
  const options = Object.fromEntries(
    [...SERVE_FLAGS, ...DEV_FLAGS, { name: "dev", value: null }].map((f) => [
      f.name,
      { type: f.value === null ? ("boolean" as const) : ("string" as const) },
    ]),
  );
  const { values } = parseArgs({ options, strict: true });
  const flags = values as Record<string, string | boolean | undefined>;
  const config = readConfig({ flags, env: process.env, dev: flags.dev === true || process.env.MAILSVC_DEV === "1" });
  const log = jsonLog((line) => void process.stderr.write(line), Date.now);
  if (config.ignoredVariables.length > 0) log.warn(describeIgnoredVariables(config));
  const ended = new AbortController();
  const starting = serve(config, log, { signal: ended.signal });
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(130);
    stopping = true;
    ended.abort();
    starting
      // A failed start ends the process by itself.
      .then(
        (server) => server.close().then(() => process.exit(0)),
        () => {},
      )
      .catch((error: unknown) => {
        log.error("shutdown failed", { error: String(error) });
        process.exit(1);
      });
  };
  // From the beginning: a program that reads the ready file may send a signal at once.
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGHUP", stop);
  const server = await starting;
  const isTerminal = process.stdout.isTTY === true;
  process.stdout.write(`${JSON.stringify(toAnnouncement(server, isTerminal))}\n`);
  if (isTerminal) server.keysShown();
}
