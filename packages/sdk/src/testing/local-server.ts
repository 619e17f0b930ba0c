import { Mailsvc } from "../client.ts";
import { findDevServer } from "../dev-server.ts";
import { isApiError, UsageError } from "../errors.ts";
import { environment } from "../runtime.ts";
import { describeMails, type TestInbox, toTestMail } from "./mail.ts";
import { type ReadyServer, startProcess } from "./server-process.ts";

/** Options of `startLocal`. */
export interface LocalOptions {
  /** The same keys for the same number, and with `now` the same ids. */
  readonly seed?: number;
  /** The instant (ISO 8601) at which the clock begins, standing still until it is moved. Without it the clock runs. */
  readonly now?: string;
  /** Further flags of `mailsvc dev`, such as `["--trust-sender", "acme.example"]`. */
  readonly flags?: readonly string[];
  /** The folder from which the package mailsvc is looked up; by default the working folder. */
  readonly cwd?: string;
  /** Receives the log of the server, as it comes. */
  readonly onLog?: (text: string) => void;
  /** Time limit for the start, ms; by default 60 seconds. */
  readonly timeoutMs?: number;
}

/** A dev server of this machine, for tests. */
export interface LocalServer extends AsyncDisposable {
  readonly url: string;
  readonly apiKey: string;
  /** A client with the owner's key. */
  readonly sdk: Mailsvc;
  /** The variables that the program under test needs: MAILSVC_URL and MAILSVC_API_KEY. */
  readonly env: Readonly<Record<string, string>>;
  /** The captured mail. */
  readonly inbox: TestInbox;
  readonly clock: {
    /** Moves the clock by a time such as "15m" or "3d", running everything that falls due on the way. */
    advance(by: string): Promise<void>;
    /** The time of the server, ms since 1970. */
    now(): Promise<number>;
  };
  /** Waits until nothing runs and nothing is due. */
  settle(): Promise<void>;
  /** Deletes everything but the workspaces and their keys. */
  reset(): Promise<void>;
  /** Stops a server that `startLocal` started, and deletes its data. */
  close(): Promise<void>;
}

/**
 * Starts `mailsvc dev` of the installed package `mailsvc` on a free port, with data of its own that is deleted at the end. It ends with
 * this process, however that ends. Throws UsageError when the package is missing, and Error when the server does not start
 * (docs/testing.md).
 */
export async function startLocal(options: LocalOptions = {}): Promise<LocalServer> {
  const { ready, stop } = await startProcess(options);
  return toLocalServer(ready, stop);
}

/**
 * Connects to the dev server that runs: the one of MAILSVC_URL, as `mailsvc dev -- COMMAND` sets it, or else the one of this folder.
 * Throws UsageError when there is none.
 */
export async function connectLocal(): Promise<LocalServer> {
  const [url, apiKey] = [environment("MAILSVC_URL"), environment("MAILSVC_API_KEY")];
  const found = url !== undefined && apiKey !== undefined ? { url, apiKey } : findDevServer();
  if (found === null)
    throw new UsageError({ message: "No dev server was found. Run the tests by: npx mailsvc dev -- COMMAND, or use startLocal()." });
  return toLocalServer(found, async () => {});
}

function toLocalServer({ url, apiKey }: ReadyServer, close: () => Promise<void>): LocalServer {
  const sdk = new Mailsvc({ baseUrl: url, apiKey });
  const settle = async (): Promise<void> => void (await sdk.clock.advance({ by: "0s" }));
  const all: TestInbox["all"] = async (filter = {}) => {
    // Refuses a server that sends through a relay: its list lacks the mail that left, so it would prove nothing.
    if (!(await sdk.me.get()).server.capturesMail)
      throw new UsageError({
        message:
          "Mail leaves this server through a relay, so its inbox does not show whether any was sent. Start it without --smtp-url and relays.",
      });
    await settle();
    return (await sdk.inbox.list(filter).toArray()).reverse();
  };
  const inbox: TestInbox = {
    all,
    get: async (id) => toTestMail(await sdk.inbox.get(id)),
    waitFor: async ({ timeout = 10, ...filter } = {}) => {
      try {
        return toTestMail(await sdk.inbox.wait({ ...filter, timeout }));
      } catch (error) {
        if (!isApiError(error, "not_found")) throw error;
        throw new Error(`No mail matches ${JSON.stringify(filter)} after ${timeout} seconds. ${describeMails(await all())}`);
      }
    },
  };
  return {
    url,
    apiKey,
    sdk,
    env: { MAILSVC_URL: url, MAILSVC_API_KEY: apiKey },
    inbox,
    clock: {
      advance: async (by) => void (await sdk.clock.advance({ by })),
      now: async () => Date.parse((await sdk.clock.show()).now),
    },
    settle,
    reset: async () => void (await sdk.world.reset()),
    close,
    [Symbol.asyncDispose]: close,
  };
}
