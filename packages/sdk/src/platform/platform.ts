import type { DevServer } from "../dev-server.ts";
import type { StreamTransport, Transport, UndiciDispatcher } from "./transport.ts";

/** The part of a zod schema that validates. */
export interface OutputSchema {
  safeParse(data: unknown): { readonly success: true } | { readonly success: false; readonly error: { readonly issues: readonly Issue[] } };
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly code: string;
  readonly message: string;
}

/** Names an endpoint; `agents` tells those of `AgentClient` from those of `Mailsvc`. */
export interface EndpointName {
  readonly agents: boolean;
  readonly noun: string;
  readonly verb: string;
}

/** Services a client needs from its runtime: `node.ts`; in the build for browsers and workers, `web.ts`. */
export interface Platform {
  /** Sends requests where the options name no `fetch`. Throws UsageError for a dispatcher where there is no undici. */
  createTransports(dispatcher: UndiciDispatcher | undefined): { readonly transport: Transport; readonly stream: StreamTransport };
  /** The dev server of this project; null where there is none. */
  findDevServer(): DevServer | null;
  /** The content of a file. Throws UsageError when it cannot be read. */
  readFile(path: string): Promise<Uint8Array>;
  /** The schema of an endpoint's answer; null where schemas are not part of the build. */
  readonly loadOutputSchema: ((endpoint: EndpointName) => Promise<OutputSchema>) | null;
}
