import { render } from "ink";
import type { Session } from "../types.ts";
import { DevScreen, type DevScreenProps } from "./dev-screen.tsx";
import { connectDevServer } from "./dev-server.ts";

/** Shows the dev screen until `q`, Ctrl-C or a signal. `session` must point at the server. */
export async function renderDevScreen(
  session: Session,
  facts: {
    url: string;
    apiKey: string | null;
    smtpUrl: string | null;
    relayHosts: readonly string[];
    profiles?: DevScreenProps["profiles"];
  },
  log: { lines(): readonly string[] },
): Promise<void> {
  const { host, signal } = session;
  const screen = render(
    <DevScreen
      url={facts.url}
      apiKey={facts.apiKey}
      smtpUrl={facts.smtpUrl}
      relayHosts={facts.relayHosts}
      profiles={facts.profiles ?? null}
      server={connectDevServer(session)}
      sleep={(ms, ended) => host.sleep(ms, ended)}
      log={log}
    />,
    {
      stdin: host.stdin as NodeJS.ReadStream,
      stdout: host.stdout as NodeJS.WriteStream,
      stderr: host.stderr as NodeJS.WriteStream,
      patchConsole: false,
    },
  );
  const end = (): void => screen.unmount();
  signal.addEventListener("abort", end, { once: true });
  try {
    await screen.waitUntilExit();
  } finally {
    signal.removeEventListener("abort", end);
  }
}
