import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Ledger } from "./ledger.ts";

/** Behaviour of a world's webhook on a request. */
export type HookMode = "works" | "fails" | "hangs" | "gone" | "quits";

/**
 * The webhooks of all worlds of a process, on one port. `http://127.0.0.1:PORT/WORLD/NAME` is the webhook NAME of a world; what it does can
 * be changed at any time.
 */
export class Receivers {
  readonly #server: Server;
  readonly #worlds = new Map<string, { readonly ledger: Ledger; readonly modes: Map<string, HookMode> }>();
  #opened = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      const [, id = "", name = ""] = (request.url ?? "").split("/");
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("error", () => {});
      request.on("end", () => {
        const world = this.#worlds.get(id);
        const mode = world?.modes.get(name) ?? "gone";
        // A server that hangs is cut off by whoever calls it; the clock of the world is not that of this process.
        if (mode === "hangs") {
          request.socket.destroy();
          return;
        }
        const status = { works: 200, fails: 500, gone: 404, quits: 410 }[mode];
        const { "webhook-id": webhookId, "webhook-timestamp": seconds, "webhook-signature": signature } = request.headers;
        const signed = { prefix: `${webhookId}.${seconds}.`, signatures: `${signature}`.split(" ") };
        world?.ledger.call({ name, status, body: Buffer.concat(chunks).toString(), ...signed });
        response.writeHead(status).end();
      });
    });
    this.#server.on("clientError", (_error, socket) => socket.destroy());
  }

  static async open(): Promise<Receivers> {
    const opened = new Receivers();
    await new Promise<void>((done) => opened.#server.listen(0, "127.0.0.1", done));
    return opened;
  }

  /** The webhooks of one world. */
  serve(ledger: Ledger): WorldHooks {
    this.#opened += 1;
    const id = `w${this.#opened}`;
    const modes = new Map<string, HookMode>();
    this.#worlds.set(id, { ledger, modes });
    const { port } = this.#server.address() as AddressInfo;
    return {
      modes,
      urlOf: (name, mode = "works") => {
        if (!modes.has(name)) modes.set(name, mode);
        return `http://127.0.0.1:${port}/${id}/${name}`;
      },
      close: () => void this.#worlds.delete(id),
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}

/** The webhooks of one world, by name. */
export interface WorldHooks {
  readonly modes: Map<string, HookMode>;
  /** The address of a webhook, which does as `mode` says until it is changed. */
  urlOf(name: string, mode?: HookMode): string;
  close(): void;
}
