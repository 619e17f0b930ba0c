import { CliError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import { safeText } from "../text/safe-text.ts";
import type { Session } from "../types.ts";

/** The builder's agent as its own process. */
export interface AgentProcess {
  readonly exited: Promise<number>;
  /** Resolves when the webhook accepts connections. Throws CliError when the agent ended before, or does not listen within a minute. */
  untilListening(): Promise<void>;
  /** Asks it to end, and kills it when it does not end within ten seconds. */
  stop(): Promise<void>;
  /** Ends it without a word, as `kill -9` does; its port is free afterwards. */
  kill(): Promise<void>;
}

const POLL_MS = 100;
const LISTEN_MS = 60_000;
const STOP_MS = 10_000;
const KEPT_LINES = 20;

/** Starts an agent by its command. `show` gets the lines it prints; the last ones are in the error when it does not start. */
export async function startAgent(
  { host, out, signal }: Session,
  line: string,
  { url, variables, show }: { url: string; variables: Readonly<Record<string, string>>; show: (line: string) => void },
): Promise<AgentProcess> {
  const kept: string[] = [];
  const command = await host.start(line, variables, (text) => {
    kept.splice(0, Math.max(0, kept.push(text) - KEPT_LINES));
    show(text);
  });
  let code: number | null = null;
  const exited = command.exited.then((given) => {
    code = given;
    return given;
  });
  const failed = (message: string): CliError =>
    new CliError({
      code: "agent_not_started",
      message: `${message}: ${line}${kept.length > 0 ? `\n${kept.map((text) => `  ${safeText(text)}`).join("\n")}` : ""}`,
      exit: EXIT.usage,
    });
  // The shell that ran the command ends before the agent itself, which may still hold its port for a moment.
  const ended = async (): Promise<void> => {
    await exited;
    const limit = host.now() + STOP_MS;
    while ((await host.listens(new URL(url))) && host.now() < limit) await host.sleep(POLL_MS);
  };
  return {
    exited,
    untilListening: async () => {
      const limit = host.now() + LISTEN_MS;
      while (!signal.aborted) {
        if (code !== null) throw failed(`The agent ended with code ${code} before it listened at ${url}`);
        if (await host.listens(new URL(url))) return;
        if (host.now() > limit) throw failed(`The agent does not listen at ${url}`);
        await host.sleep(POLL_MS, signal);
      }
    },
    stop: async () => {
      if (code !== null) return;
      command.signal("SIGTERM");
      const limit = host.now() + STOP_MS;
      while (code === null && host.now() < limit) await Promise.race([exited, host.sleep(POLL_MS)]);
      if (code !== null) return;
      out.say(`The agent did not end within ${STOP_MS / 1000} s of SIGTERM and was killed.`);
      command.signal("SIGKILL");
      await ended();
    },
    kill: async () => {
      command.signal("SIGKILL");
      await ended();
    },
  };
}
