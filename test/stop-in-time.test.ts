import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { until } from "./dev-server.ts";
import { type Api, call } from "./support/api.ts";
import { type HangingPeer, type HangsAt, hangingMailServer, silentServer } from "./support/hanging-peers.ts";
import { type ServerProcess, type StartOptions, startServer } from "./support/server.ts";

// `docker stop` and others kill after ten seconds.
const LIMIT_MS = 10_000;
const SEND = { from: "a@acme.test", to: "ada@example.com", subject: "Hi", text: "Hi" };

interface Setting {
  readonly api: Api;
  readonly server: ServerProcess;
  readonly peer: HangingPeer;
  /** Opens a connection to this machine, which ends with the test. */
  open(port: number): Socket;
}

/** Case: a hanging peer, the start of a server with it, and the steps before the server is to stop. */
interface Case {
  readonly name: string;
  readonly peer: () => Promise<HangingPeer>;
  readonly start?: (peer: HangingPeer) => Pick<StartOptions, "flags" | "before">;
  readonly prepare: (setting: Setting) => Promise<unknown>;
}

const mailServer = (at: HangsAt): Case => ({
  name: `a mail server that hangs at: ${at}`,
  peer: () => hangingMailServer(at),
  start: ({ port }) => ({ flags: ["--dev", "--smtp-url", `smtp://127.0.0.1:${port}`] }),
  prepare: async ({ api, peer }) => {
    for (let i = 0; i < 10; i += 1) await call(api, "POST", "/api/v1/send", { ...SEND, to: `p${i}@example.com` });
    // After a QUIT nothing else hangs: the server comes to it when it stops.
    if (at !== "QUIT") await peer.hangs;
  },
});

const CASES: readonly Case[] = [
  ...(["greeting", "EHLO", "MAIL", "message", "QUIT"] as const).map(mailServer),
  {
    name: "a webhook that never answers",
    peer: silentServer,
    prepare: async ({ api, peer }) => {
      await call(api, "POST", "/api/v1/webhooks", { url: `http://127.0.0.1:${peer.port}/`, events: ["email.*"] });
      await call(api, "POST", "/api/v1/send", SEND);
      await peer.hangs;
    },
  },
  {
    name: "clients that follow events",
    peer: silentServer,
    prepare: async ({ api }) => {
      for (let i = 0; i < 3; i += 1)
        await fetch(`${api.url}/api/v1/events/stream`, { headers: { authorization: `Bearer ${api.apiKey}`, accept: "text/event-stream" } });
    },
  },
  {
    name: "requests that are half sent",
    peer: silentServer,
    prepare: async ({ api, open }) => {
      for (let i = 0; i < 3; i += 1) {
        const socket = open(Number(new URL(api.url).port));
        await once(socket, "connect");
        const head = ["POST /api/v1/send HTTP/1.1", "Host: 127.0.0.1", `Authorization: Bearer ${api.apiKey}`];
        socket.write([...head, "Content-Type: application/json", "Content-Length: 5000", "", '{"from":'].join("\r\n"));
      }
    },
  },
  {
    name: "a collector of traces that never answers",
    peer: silentServer,
    start: ({ port }) => ({ flags: ["--dev"], before: ["env", `OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:${port}`] }),
    prepare: ({ api }) => call(api, "POST", "/api/v1/send", SEND),
  },
  {
    name: "a collector of traces that is away",
    peer: silentServer,
    start: ({ port }) => ({ flags: ["--dev"], before: ["env", `OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:${port}`] }),
    prepare: async ({ api, peer }) => {
      await peer.close();
      await call(api, "POST", "/api/v1/send", SEND);
    },
  },
  {
    name: "a mail server in the middle of a report",
    peer: silentServer,
    start: () => ({ flags: ["--dev", "--inbound-domain", "in.acme.test", "--inbound-smtp-port", "127.0.0.1:0"] }),
    prepare: async ({ server, open }) => {
      // The log may come after the ready file.
      await until("the port of inbound mail", () => server.stderr().includes("accepting bounces"));
      const [, port, to] = /accepting bounces.*?"port":(\d+).*?"complaintsTo":"([^"]+)"/.exec(server.stderr()) ?? [];
      const socket = open(Number(port));
      for (const line of ["", "EHLO x", "MAIL FROM:<>", `RCPT TO:<${to}>`, "DATA"]) {
        if (line !== "") socket.write(`${line}\r\n`);
        await once(socket, "data");
      }
      socket.write("Subject: half a");
    },
  },
];

describe("a stop ends within ten seconds", () => {
  test.concurrent.each(CASES)("with $name", async ({ peer: listen, start, prepare }) => {
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-stop-"));
    const peer = await listen();
    const sockets: Socket[] = [];
    const open = (port: number): Socket => {
      const socket = connect(port, "127.0.0.1");
      sockets.push(socket);
      return socket.on("error", () => {});
    };
    const server = startServer({ data: join(folder, "data"), flags: ["--dev"], ...start?.(peer) });
    try {
      const told = await server.ready();
      if (!told?.apiKey) throw new Error(server.stderr());
      await prepare({ api: { url: told.url, apiKey: told.apiKey }, server, peer, open });
      const from = performance.now();
      expect(await server.kill("SIGTERM"), server.stderr()).toEqual({ code: 0, signal: null });
      expect(performance.now() - from).toBeLessThan(LIMIT_MS);
    } finally {
      for (const socket of sockets) socket.destroy();
      await server.kill("SIGKILL");
      await peer.close().catch(() => {});
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
