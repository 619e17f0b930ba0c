import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { LintFinding } from "@mailsvc/sdk/contract";
import { usageError } from "../runtime/errors.ts";
import type { Host } from "../types.ts";
import { renderPreviewPage } from "./preview-page.ts";

/** State of the page: the last mail that could be rendered, and the faults in the files now. */
export interface PreviewState {
  readonly mail: {
    readonly subject: string | null;
    readonly html: string | null;
    readonly text: string | null;
    readonly missingVariables: readonly string[];
    readonly findings: readonly LintFinding[];
  } | null;
  readonly errors: readonly { readonly path: string; readonly message: string }[];
  /** Milliseconds that the rendering took. */
  readonly took: number;
}

/** Serves the page of a preview on this machine only, and tells open pages when there is something new. */
export class PreviewServer implements AsyncDisposable {
  readonly #host: Pick<Host, "randomBytes">;
  readonly #server: Server;
  readonly #pages = new Set<ServerResponse>();
  #state: PreviewState = { mail: null, errors: [], took: 0 };

  private constructor(host: Pick<Host, "randomBytes">) {
    this.#host = host;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  /** Listens on a port; 0 for any that is free. Throws CliError when it is taken. */
  static async start(port: number, host: Pick<Host, "randomBytes">): Promise<PreviewServer> {
    const preview = new PreviewServer(host);
    await new Promise<void>((resolve, reject) => {
      preview.#server.once("error", (error) => reject(usageError(`The page cannot be served at port ${port}: ${error.message}.`)));
      preview.#server.listen(port, "127.0.0.1", resolve);
    });
    return preview;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Shows another state in every open page. */
  show(state: PreviewState): void {
    this.#state = { ...state, mail: state.mail ?? this.#state.mail };
    for (const page of this.#pages) page.write("data: changed\n\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #answer({ method, url, headers }: IncomingMessage, response: ServerResponse): void {
    // Another site could give this address its own name, and read the mail.
    if (method !== "GET" || headers.host !== new URL(this.url).host) return void response.writeHead(403).end();
    response.setHeader("cache-control", "no-store");
    if (url === "/state") response.setHeader("content-type", "application/json").end(JSON.stringify(this.#state));
    else if (url === "/changes") {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("data: now\n\n");
      this.#pages.add(response);
      response.on("close", () => this.#pages.delete(response));
    } else if (url === "/") {
      const nonce = Buffer.from(this.#host.randomBytes(16)).toString("base64");
      const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'unsafe-inline' https:; img-src * data:; font-src https: data:; connect-src 'self'`;
      response
        .writeHead(200, { "content-type": "text/html; charset=utf-8", "content-security-policy": policy })
        .end(renderPreviewPage(nonce));
    } else response.writeHead(404).end();
  }
}
