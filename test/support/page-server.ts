import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../packages/server/src/config.ts";
import { silentLog } from "../../packages/server/src/lib/log.ts";
import { type RunningServer, serve } from "../../packages/server/src/serve.ts";
import { emptyDatabase } from "../../packages/server/src/testing/empty-database.ts";
import type { CliServer } from "./cli-server.ts";

/** Starts the server of a page in this process, which costs a quarter of a separate process: pages that start one start the program. */
export async function startPageServer(data: string): Promise<RunningServer> {
  mkdirSync(data);
  writeFileSync(join(data, "mailsvc.db"), await emptyDatabase());
  return serve(readConfig({ flags: { data, port: "0", "smtp-port": "0" }, env: {}, dev: true }), silentLog);
}

/** The variables by which the commands of a page find its server. */
export function listVariables({ url, smtpUrl, apiKey, operatorKey, profiles }: RunningServer): Record<string, string | undefined> {
  return {
    MAILSVC_URL: url,
    SMTP_URL: `${smtpUrl}`,
    MAILSVC_API_KEY: apiKey ?? undefined,
    MAILSVC_BUILDER_API_KEY: profiles?.builder.apiKey,
    MAILSVC_OPERATOR_KEY: operatorKey ?? undefined,
  };
}

/**
 * Runs an installed program as npx does, without loading npm, which takes a third of a second for each of the hundreds of commands. That
 * npx itself finds the programs is tested by `newcomer.test.ts`. Calls of the service are made by the command line in this process: that
 * they work from the installed program is tested by `quickstarts.test.ts`.
 */
export const npxScript = (cliServer: CliServer): string => `#!/bin/sh
case "$1" in -*) echo "npx $1 is not run here" >&2; exit 2 ;; esac
case "$1 $2" in "mailsvc "serve | "mailsvc "dev | "mailsvc "agent | "mailsvc "backup | "mailsvc "restore | "mailsvc "migrate) ;; "mailsvc "*)
${cliServer.script};; esac
exec "$@"
`;
