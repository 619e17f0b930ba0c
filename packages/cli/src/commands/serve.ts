import type { RunningServer, ServeFlag } from "@mailsvc/server";
import { Command, Option } from "commander";
import { setOptionMetadata } from "../contract/metadata.ts";
import { DevRun } from "../dev-run/dev-run.ts";
import { showRecording } from "../dev-run/open.ts";
import { RUN_OPTIONS, readRunOptions, wantsRecorder } from "../dev-run/options.ts";
import { runBesideServer } from "../dev-run/run-command.ts";
import { type Run, runAction } from "../runtime/action.ts";
import { CliError, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { resolveSettings } from "../runtime/settings.ts";
import { type ServeLog, START_ENDED, sayWhereMailGoes, startServer } from "../server/start-server.ts";
import { safeText } from "../text/safe-text.ts";
import type { Session } from "../types.ts";

// After a stop nothing is waited for that long, such as a last connection to a collector that hangs.
const EXIT_MS = 200;

type Started = Pick<
  RunningServer,
  | "url"
  | "workspaceId"
  | "apiKey"
  | "operatorKey"
  | "profiles"
  | "dashboardUrl"
  | "createSignInLink"
  | "smtpUrl"
  | "resendUrl"
  | "relayHosts"
  | "keysFile"
  | "keysShown"
>;

/**
 * Prints the server's address and, in dev mode, its keys. The keys of a new production server are shown on a terminal only,
 * because other output may end in a log; elsewhere the path of the file that holds them is printed.
 */
async function announce(session: Session, server: Started, dev: boolean): Promise<void> {
  const { out, err } = session.term;
  const { url, workspaceId, apiKey, operatorKey, profiles, dashboardUrl, smtpUrl, resendUrl, relayHosts, keysFile } = server;
  const mayShow = dev || (session.term.stderrTTY && !session.out.json);
  const keys = mayShow ? { apiKey, operatorKey } : { apiKey: null, operatorKey: null };
  const addresses = { dashboardUrl, smtpUrl, ...(resendUrl !== null && { resendUrl }) };
  const facts = { url, workspaceId, ...keys, ...addresses, dev, ...(profiles && { profiles }), ...(mayShow ? {} : { keysFile }) };
  await session.out.data(
    facts,
    () =>
      `${out.green("Listening")} at ${out.bold(url)}${dev ? out.dim(`  dev mode: ${relayHosts.length === 0 ? "mail is captured, " : ""}the clock is yours`) : ""}`,
  );
  if (!mayShow && keysFile !== null)
    session.out.say(`${err.dim("Keys     ")}  ${safeText(keysFile)}${err.dim("  (store them elsewhere, then delete the file)")}`);
  if (dev) sayWhereMailGoes(session, server);
  if (session.out.json) return;
  session.out.note(`${err.dim("Dashboard")}  ${safeText(await findWayIn(session, server, dev))}`);
  if (smtpUrl !== null) session.out.note(`${err.dim("SMTP     ")}  ${safeText(smtpUrl)}`);
  if (resendUrl !== null) session.out.note(`${err.dim("Resend   ")}  ${safeText(resendUrl)}`);
  if (profiles) {
    for (const [name, { apiKey: key }] of Object.entries(profiles))
      session.out.note(`${err.dim(`${name} key`.padEnd(9))}  ${safeText(key)}`);
    session.out.note(err.dim("Commands in this folder find this server by themselves; elsewhere: mailsvc env"));
  } else if (mayShow && apiKey) {
    // Not notes, which --quiet would drop: the keys are shown only once.
    session.out.say(`${err.dim("API key  ")}  ${safeText(apiKey)}`);
    if (operatorKey) session.out.say(`${err.dim("Operator ")}  ${safeText(operatorKey)}${err.dim("  (manages workspaces)")}`);
    session.out.say(err.dim("Store both now. They are not shown again."));
    server.keysShown();
  }
  session.out.note(err.dim("Press Ctrl-C to stop."));
}

/**
 * Returns the dashboard's URL for a person. Dev mode needs no sign-in. Production prints a link that signs in, but only where a person
 * sits at the terminal: a service or a container with its own terminal may keep its output. The link works once, within 15 minutes.
 */
async function findWayIn(session: Session, { dashboardUrl, createSignInLink }: Started, dev: boolean): Promise<string> {
  const attended = session.term.stderrTTY && session.host.stdin.isTTY === true && !session.globals.quiet && !session.host.env["CI"];
  return (!dev && attended ? await createSignInLink() : null) ?? dashboardUrl;
}

const EXAMPLES = {
  dev: [
    "mailsvc dev",
    "mailsvc dev --port 0 --plain --ready-file ready.json",
    "mailsvc dev -- npm test",
    "mailsvc dev --coverage --report junit=mail.xml -- npm test",
    "mailsvc dev --open .mailsvc/recordings/20300131-090000-a1b2c3.ndjson.gz",
  ],
  serve: ["mailsvc serve --data /var/lib/mailsvc --smtp-url smtps://user:password@mail.example.com"],
} as const;

/** `mailsvc serve` and `mailsvc dev`. Their flags come from the server package, which is loaded only when they are needed. */
export async function serveCommands(run: Run, withFlags: boolean, commonFlags = false): Promise<Command[]> {
  const { SERVE_FLAGS, DEV_FLAGS } = withFlags ? await import("@mailsvc/server") : { SERVE_FLAGS: [], DEV_FLAGS: [] };
  return [
    buildServeCommand("dev", "Run a server for development: captured mail, a clock you own", run, {
      table: [...SERVE_FLAGS, ...DEV_FLAGS],
      commonFlags,
    }),
    buildServeCommand("serve", "Run the server", run, { table: SERVE_FLAGS, commonFlags }),
  ];
}

// "port to listen on" gets a capital letter; "smtp://…" stays as it is.
function capitalize(text: string): string {
  return /^[a-z]+ /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) return done();
    signal.addEventListener("abort", () => done(), { once: true });
  });
}

function wantsScreen({ host, out, globals }: Session): boolean {
  return (
    host.stdin.isTTY === true && host.stdout.isTTY === true && !out.json && !globals.quiet && host.env["TERM"] !== "dumb" && !host.env["CI"]
  );
}

async function showScreen(session: Session, server: RunningServer, log: ServeLog, signal: AbortSignal): Promise<boolean> {
  const load = () => import("../ui/screen.tsx");
  let ui: Awaited<ReturnType<typeof load>>;
  try {
    ui = await load();
  } catch (error) {
    session.out.note(`Could not load the live screen (${safeText((error as Error).message)}); using plain lines.`);
    return false;
  }
  session.use({ ...resolveSettings(session.host, {}, true), url: server.url, apiKey: server.apiKey ?? undefined });
  log.toScreen(true);
  try {
    await ui.renderDevScreen({ ...session, signal }, server, log);
  } finally {
    log.toScreen(false);
  }
  return true;
}

interface ServeHelp {
  readonly table: readonly ServeFlag[];
  /** Only the flags that most servers need are listed in help. */
  readonly commonFlags: boolean;
}

function buildServeCommand(name: "serve" | "dev", summary: string, run: Run, { table, commonFlags }: ServeHelp): Command {
  const dev = name === "dev";
  const command = new Command(name).description(summary);
  for (const flag of table) {
    const option = new Option(
      `--${flag.name}${flag.value === null ? "" : ` <${flag.value.toLowerCase()}>`}`,
      `${capitalize(flag.summary)} (${flag.env})`,
    );
    if (commonFlags && !(flag.common ?? false)) option.hideHelp();
    command.addOption(setOptionMetadata(option, { type: flag.value === null ? "boolean" : /FILE|DIR/.test(flag.value) ? "file" : "text" }));
  }
  command.addHelpText("after", `\nExamples:\n${EXAMPLES[name].map((line) => `  ${line}`).join("\n")}`);
  if (commonFlags) command.addHelpText("after", `\nAll ${table.length} flags: mailsvc ${name} --help --all`);
  if (dev) {
    for (const option of RUN_OPTIONS) command.addOption(option);
    command
      .option("--plain", "Plain lines instead of the live screen")
      .argument("[command...]", "After --: run this with MAILSVC_URL and MAILSVC_API_KEY set, then stop and exit with its code")
      .usage("[options] [-- command...]");
  }
  return runAction(command, run, "local", async (session, args, flags): Promise<Exit> => {
    const argv = (args[0] as unknown as readonly string[] | undefined) ?? [];
    if (argv.length > 0 && !session.host.argv.includes("--"))
      throw usageError(`Unexpected argument "${safeText(argv[0] ?? "")}".`, {
        hint: "To run a command with a dev server: mailsvc dev -- COMMAND",
      });
    // Otherwise a script whose command is in an empty variable would wait for ever.
    if (argv.length === 0 && session.host.argv.at(-1) === "--")
      throw usageError("There is no command after --.", { hint: "Without -- a server is started: mailsvc dev" });
    const options = readRunOptions(session.host, flags);
    if (typeof flags["open"] === "string") return showRecording(session, flags["open"], { flags, argv });
    if (argv.length > 0) return runBesideServer(session, flags, { table, argv, options });
    const starting = startServer(session, flags, { table, dev, project: session.host.cwd, command: [] });
    const started = await starting.catch((error: unknown) => {
      // A stop while it waits for its database: what is still under way is left to the end of the process.
      if (!(error instanceof CliError) || error.failure.code !== START_ENDED) throw error;
      session.host.exitAfter(EXIT_MS);
      return null;
    });
    if (started === null) return EXIT.ok;
    const { server, log, recorder } = started;
    const devRun = recorder !== null && wantsRecorder(options) ? new DevRun(session, options, recorder) : null;
    const parentGone = new AbortController();
    const unwatch = dev ? session.host.onParentExit(() => parentGone.abort()) : () => {};
    const signal = AbortSignal.any([session.signal, parentGone.signal]);
    try {
      const live = dev && flags["plain"] !== true && wantsScreen(session);
      if (live && (await showScreen(session, server, log, signal))) return EXIT.ok;
      await announce(session, server, dev);
      await waitForAbort(signal);
      return EXIT.ok;
    } finally {
      unwatch();
      session.out.note(session.term.err.dim("Stopping."));
      await devRun?.end(EXIT.ok);
      await server.close();
      session.host.exitAfter(EXIT_MS);
    }
  });
}
