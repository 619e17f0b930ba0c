import { contract } from "@mailsvc/sdk/contract";
import { Command, Option } from "commander";
import { type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import { buildCall } from "../runtime/request.ts";
import type { Session } from "../types.ts";

const HELP = `
MCP clients such as Claude, Cursor and VS Code start it themselves; docs/mcp.md has their settings.
In dev mode everything is allowed while all mail is captured. Elsewhere tools only read, and with
--allow-writes a person confirms each write.

Examples:
  mailsvc mcp
  mailsvc mcp --url https://mail.acme.com --allow-writes --max-recipients 50 --allow-to acme.com`;

// Clients give a call about a minute, and inbox_wait waits for 50 seconds of it.
const CALL_MS = 60_000;

/** The answer to me.get, as far as it is needed here. */
type Me = Awaited<ReturnType<Awaited<ReturnType<Session["client"]>>["me"]["get"]>>;

/** `mailsvc mcp`: the tools of an MCP client, over stdin and stdout. */
export function mcpCommand(run: Run): Command {
  const command = new Command("mcp")
    .description("Serve tools for AI assistants over stdin and stdout (Model Context Protocol)")
    .addOption(new Option("--allow-writes", "Let tools write, each time after a person has confirmed it"))
    .addOption(new Option("--max-recipients <n>", "Refuse calls that would reach more people than this"))
    .addOption(new Option("--allow-to <domain>", "Let tools send to this domain only; several with commas"))
    .addHelpText("after", HELP);
  return runAction(command, run, "connect", async (session, _args, flags) => {
    const { serveMcpOverStdio } = await import("@mailsvc/server");
    const client = await session.client();
    const me = async (): Promise<Me> => (await session.send(buildCall(contract.me.get, [], {}, undefined))).data as Me;
    const { dev } = (await me()).server;
    const { host, out } = session;
    await serveMcpOverStdio({
      dev,
      allowWrites: flags["allowWrites"] === true,
      maxRecipients: flags["maxRecipients"] as string | undefined,
      allowTo: flags["allowTo"] as string | undefined,
      send: ({ method, path, ...request }, signal) =>
        client.request(method, path, { ...request, signal, timeoutMs: CALL_MS, attemptTimeoutMs: CALL_MS, throwOnError: false }),
      me,
      sealingKey: host.randomBytes(32),
      stdin: host.stdin,
      stdout: host.stdout,
      signal: session.signal,
      report: (error) => out.say(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    }).catch((error: Error) => {
      throw error.name === "ConfigError" ? usageError(error.message) : error;
    });
    return EXIT.ok;
  });
}
