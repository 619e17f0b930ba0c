import { safeText } from "../text/safe-text.ts";
import type { Globals, Host, Session, SettingFlags, Settings } from "../types.ts";
import { CliError } from "./errors.ts";
import { EXIT } from "./exit.ts";
import { createInputReader } from "./input-reader.ts";
import { createOutput } from "./output.ts";
import { startProgress } from "./progress.ts";
import { describeDryRun } from "./request.ts";
import { resolveSettings } from "./settings.ts";
import { createClient, createTransport, type Transport } from "./transport.ts";
import { detectTerminal } from "./tty.ts";

export function createSession(host: Host, globals: Globals, signal: AbortSignal): Session {
  const term = detectTerminal(host);
  const out = createOutput(host, term, globals);
  let settings: Settings | undefined;
  let transport: Promise<Transport> | undefined;
  const settingFlags = (): SettingFlags => ({
    ...(globals.url === undefined ? {} : { url: globals.url }),
    ...(globals.apiKey === undefined ? {} : { "api-key": globals.apiKey }),
    ...(globals.profile === undefined ? {} : { profile: globals.profile }),
    ...(globals.timeout === undefined ? {} : { timeout: globals.timeout }),
  });
  const agentKey = (): string | undefined => globals.apiKey ?? (host.env["MAILSVC_AGENT_KEY"] || undefined);
  const operatorKey = (): string | undefined => globals.apiKey ?? session.settings().operatorKey;
  const session: Session = {
    host,
    term,
    out,
    globals,
    input: createInputReader(host),
    signal,
    flagOf: () => undefined,
    spec: undefined,
    lastCall: undefined,
    usesClock: false,
    settingFlags,
    use: (next) => {
      settings = next;
      transport = undefined;
    },
    settings: () => {
      if (settings) return settings;
      settings = resolveSettings(host, settingFlags());
      for (const { path, reason } of settings.ignoredDevFiles)
        out.note(`${term.err.yellow("ignored")} ${safeText(path)}: ${reason}. Delete it, or start mailsvc dev again.`);
      return settings;
    },
    send: async (call) => {
      const known = session.settings();
      session.lastCall = call;
      transport ??= createTransport(session);
      if (call.forAgent) {
        const key = agentKey();
        if (key === undefined) throw missingAgentKeyError();
        return (await transport)({ ...call, headers: { ...call.headers, Authorization: `Bearer ${key}` } });
      }
      if (call.forOperator) {
        const key = operatorKey();
        if (key === undefined) throw missingOperatorKeyError();
        return (await transport)({ ...call, headers: { ...call.headers, Authorization: `Bearer ${key}` } });
      }
      if (call.withKey && known.apiKey === undefined) throw missingKeyError(known);
      return (await transport)(call);
    },
    client: async () => {
      const known = session.settings();
      if (known.apiKey === undefined) throw missingKeyError(known);
      return createClient(session);
    },
    printDryRun: async (call) => {
      const known = session.settings();
      const shown = describeDryRun(known.url, call, call.forAgent ? agentKey() : call.forOperator ? operatorKey() : known.apiKey);
      await out.data(shown, () => shown.curl);
      out.note(term.err.dim("Nothing was sent."));
    },
    progress: (label) => startProgress(host, term, globals.quiet, label),
    serverNow: async (dev) => {
      if (globals.dryRun) return host.now();
      const path = dev ? "/__dev/clock" : "/api/v1/me";
      const now = parseServerTime((await session.send({ method: "GET", path, query: {}, headers: {}, withKey: !dev })).data);
      return Number.isNaN(now) ? host.now() : now;
    },
  };
  return session;
}

function missingKeyError(settings: Settings): CliError {
  return new CliError({
    code: "unauthorized",
    message: settings.keyWithheld ?? "No API key is set.",
    exit: EXIT.auth,
    hint: "Log in, set MAILSVC_API_KEY or use --api-key. A local server shows its key on the first start.",
    next: settings.profile === "default" ? "mailsvc login" : `mailsvc login --profile ${settings.profile}`,
  });
}

function missingAgentKeyError(): CliError {
  return new CliError({
    code: "unauthorized",
    message: "No agent key is set.",
    exit: EXIT.auth,
    hint: "The key is sent once, with the event agent.activated. Set MAILSVC_AGENT_KEY or use --api-key ms_agent_…",
  });
}

function missingOperatorKeyError(): CliError {
  return new CliError({
    code: "unauthorized",
    message: "No operator key is set.",
    exit: EXIT.auth,
    hint: "The server shows it on its first start, next to the API key. Set MAILSVC_OPERATOR_KEY or use --api-key ms_op_…",
  });
}

function parseServerTime(data: unknown): number {
  const body = data as { now?: unknown; server?: { now?: unknown } } | null;
  return Date.parse(String(body?.now ?? body?.server?.now));
}
