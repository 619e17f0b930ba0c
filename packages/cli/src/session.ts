import { CliError, type FlagOf } from "./errors.ts";
import { EXIT } from "./exit.ts";
import type { Globals } from "./globals.ts";
import type { Host } from "./host.ts";
import { type Input, inputOf } from "./input.ts";
import { type Output, outputOf } from "./output.ts";
import type { Placed } from "./places.ts";
import { type Progress, startProgress } from "./progress.ts";
import { type Call, dryRunOf } from "./request.ts";
import { resolveSettings, type SettingFlags, type Settings } from "./settings.ts";
import { type Answer, type Transport, transportOf } from "./transport.ts";
import { type Terminal, terminalOf } from "./tty.ts";

/** What one command works with: its surroundings, its settings and the way to the server. */
export interface Session {
  readonly host: Host;
  readonly term: Terminal;
  readonly out: Output;
  readonly globals: Globals;
  readonly input: Input;
  /** Fires on Ctrl-C. */
  readonly signal: AbortSignal;
  /** Names the flag behind a path in an error; a command sets it when it knows its fields. */
  flagOf: FlagOf;
  /** The endpoint this command stands for, if any, and the last request it sent: what advice on a failure is made from. */
  place: Placed | undefined;
  lastCall: Call | undefined;
  /** Read when first asked for, so that a command that needs none works with a broken config file. */
  settings(): Settings;
  settingFlags(): SettingFlags;
  /** Replaces the settings, for a login that tries a key before it is stored. */
  use(settings: Settings): void;
  /** Sends one request. Throws the client's errors, or CliError when a key is needed and there is none. */
  send(call: Call): Promise<Answer>;
  /** Prints the request instead of sending it. */
  printDryRun(call: Call): Promise<void>;
  progress(label: string): Progress;
  /** The server's time, ms since 1970: under /__dev/clock it is not the machine's. */
  serverNow(dev: boolean): Promise<number>;
}

export function sessionOf(host: Host, globals: Globals, signal: AbortSignal): Session {
  const term = terminalOf(host);
  const out = outputOf(host, term, globals);
  let settings: Settings | undefined;
  let transport: Promise<Transport> | undefined;
  const settingFlags = (): SettingFlags => ({
    ...(globals.url === undefined ? {} : { url: globals.url }),
    ...(globals.apiKey === undefined ? {} : { "api-key": globals.apiKey }),
    ...(globals.profile === undefined ? {} : { profile: globals.profile }),
    ...(globals.timeout === undefined ? {} : { timeout: globals.timeout }),
  });
  const agentKey = (): string | undefined => globals.apiKey ?? (host.env["MAILSVC_AGENT_KEY"] || undefined);
  const session: Session = {
    host,
    term,
    out,
    globals,
    input: inputOf(host),
    signal,
    flagOf: () => undefined,
    place: undefined,
    lastCall: undefined,
    settingFlags,
    use: (next) => {
      settings = next;
      transport = undefined;
    },
    settings: () => {
      settings ??= resolveSettings(host, settingFlags());
      return settings;
    },
    send: async (call) => {
      const known = session.settings();
      session.lastCall = call;
      transport ??= transportOf(session);
      if (call.forAgent) {
        const key = agentKey();
        if (key === undefined) throw noAgentKey();
        return (await transport)({ ...call, headers: { ...call.headers, Authorization: `Bearer ${key}` } });
      }
      if (call.withKey && known.apiKey === undefined) throw noKey(known);
      return (await transport)(call);
    },
    printDryRun: async (call) => {
      const known = session.settings();
      const shown = dryRunOf(known.url, call, call.forAgent ? agentKey() : known.apiKey);
      await out.data(shown, () => shown.curl);
      out.note(term.err.dim("Nothing was sent."));
    },
    progress: (label) => startProgress(host, term, globals.quiet, label),
    serverNow: async (dev) => {
      if (globals.dryRun) return host.now();
      const path = dev ? "/__dev/clock" : "/api/v1/me";
      const now = timeIn((await session.send({ method: "GET", path, query: {}, headers: {}, withKey: !dev })).data);
      return Number.isNaN(now) ? host.now() : now;
    },
  };
  return session;
}

function noKey(settings: Settings): CliError {
  return new CliError({
    code: "unauthorized",
    message: settings.keyWithheld ?? "No API key is given.",
    exit: EXIT.auth,
    hint: "Log in, set MAILSVC_API_KEY or give --api-key. A local server prints a key when it first starts.",
    next: settings.profile === "default" ? "mailsvc login" : `mailsvc login --profile ${settings.profile}`,
  });
}

function noAgentKey(): CliError {
  return new CliError({
    code: "unauthorized",
    message: "No key of an activation is given.",
    exit: EXIT.auth,
    hint: "It came once, with the event agent.activated. Set MAILSVC_AGENT_KEY or give --api-key ms_agent_…",
  });
}

function timeIn(data: unknown): number {
  const body = data as { now?: unknown; server?: { now?: unknown } } | null;
  return Date.parse(String(body?.now ?? body?.server?.now));
}
