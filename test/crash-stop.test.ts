import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Api, all, call } from "./support/api.ts";
import { type ServerProcess, startServer } from "./support/server.ts";
import { newLedger, startTraffic } from "./support/traffic.ts";

let folder = "";
const started: ServerProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-stop-"));
});

afterEach(async () => {
  for (const server of started.splice(0)) await server.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const start = (flags: readonly string[] = ["--dev"], data = "data"): ServerProcess => {
  const server = startServer({ data: join(folder, data), flags });
  started.push(server);
  return server;
};

const ready = async (server: ServerProcess): Promise<Api> => {
  const told = await server.ready();
  if (!told?.apiKey) throw new Error(`The server did not start: ${server.stderr()}`);
  return { url: told.url, apiKey: told.apiKey };
};

/** A send of which only the beginning is out; `finish` sends the rest and answers with what came back. */
const halfSent = async ({ url, apiKey }: Api): Promise<{ finish(): Promise<{ status: number | undefined; id: string }> }> => {
  const body = JSON.stringify({ from: "slow@sender.test", to: "slow@reader.test", subject: "Slowly", text: "It took its time." });
  const request = httpRequest(`${url}/api/v1/send`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", "content-length": body.length },
  });
  const answered = once(request, "response");
  request.write(body.slice(0, 20));
  await once(request, "socket");
  return {
    finish: async () => {
      request.end(body.slice(20));
      const [response] = (await answered) as [import("node:http").IncomingMessage];
      let text = "";
      for await (const chunk of response) text += String(chunk);
      return { status: response.statusCode, id: (JSON.parse(text) as { id: string }).id };
    },
  };
};

describe("stopping in order", () => {
  test("SIGTERM under load answers what is in flight, keeps all it acknowledged, and ends with 0 within 10 seconds", async () => {
    const server = start();
    const api = await ready(server);
    const ledger = newLedger();
    const traffic = startTraffic(api, ledger, { connections: 40, pause: 0, random: Math.random });
    const slow = await halfSent(api);
    const waiting = fetch(`${api.url}/__dev/inbox/wait?to=nobody@reader.test&timeout=3`);
    while (ledger.wishes.length < 500) await new Promise((next) => setTimeout(next, 5));

    const from = performance.now();
    server.child.kill("SIGTERM");
    // The stop is seen from outside: a new connection is refused.
    await expect
      .poll(
        () =>
          fetch(`${api.url}/healthz`).then(
            () => "answers",
            () => "refuses",
          ),
        { timeout: 5000, interval: 10 },
      )
      .toBe("refuses");
    const last = await slow.finish();
    expect(last.status).toBe(200);
    expect((await waiting).status).toBe(404);
    expect(await server.ended, server.stderr()).toEqual({ code: 0, signal: null });
    expect(performance.now() - from).toBeLessThan(10_000);
    await traffic.stop();
    expect(ledger.refused).toEqual([]);

    const again = await ready(start());
    const ids = new Set((await all<{ id: string }>(again, "/api/v1/emails")).map(({ id }) => id));
    const promised = [last.id, ...ledger.wishes.flatMap((wish) => wish.promised ?? [])];
    expect(promised.length).toBeGreaterThan(300);
    expect(promised.filter((id) => !ids.has(id))).toEqual([]);
  });

  test("SIGINT of an idle server ends with 0 and lets the folder go", async () => {
    const server = start();
    await ready(server);
    expect(await server.kill("SIGINT")).toEqual({ code: 0, signal: null });
    expect((await ready(start())).apiKey).toMatch(/^ms_(?:live|dev)_/);
  });
});

describe("starting", () => {
  test("a second server on the same folder is refused, and the first one goes on", async () => {
    const first = start();
    const api = await ready(first);
    const second = start();
    expect(await second.ended).toEqual({ code: 7, signal: null });
    expect(second.stderr()).toBe(
      `Another mailsvc server (process ${first.child.pid}) is using ${join(folder, "data")}. Stop it, or give this one its own folder with --data.\n`,
    );
    expect(existsSync(second.readyFile)).toBe(false);
    expect(await call(api, "GET", "/readyz")).toMatchObject({ status: "ready" });
  });

  test("a killed server leaves no lock behind", async () => {
    const server = start();
    await ready(server);
    await server.kill("SIGKILL");
    expect((await ready(start())).url).toMatch(/^http:/);
  });

  test("a port in use is refused, and says what to do", async () => {
    const blocker = createServer().listen(0, "127.0.0.1");
    await once(blocker, "listening");
    const { port } = blocker.address() as AddressInfo;
    try {
      const server = start(["--dev", "--port", `${port}`]);
      expect(await server.ended).toEqual({ code: 7, signal: null });
      expect(server.stderr()).toBe(
        `Port ${port} of 127.0.0.1 is in use. Stop the other program, or choose another port; --port 0 takes any free one.\n`,
      );
      expect(existsSync(server.readyFile)).toBe(false);
    } finally {
      blocker.close();
    }
  });

  test("the ready-file appears whole, for its owner only, and nothing is left next to it", async () => {
    const server = start();
    // ready() parses the file at the first sight of it, a millisecond at most after it came.
    const told = await server.ready();
    expect(statSync(server.readyFile).mode & 0o777).toBe(0o600);
    expect(Object.keys(told ?? {}).sort()).toEqual([
      "apiKey",
      "dashboardUrl",
      "operatorKey",
      "pid",
      "profiles",
      "smtpUrl",
      "url",
      "workspaceId",
    ]);
    expect(existsSync(`${server.readyFile}.tmp`)).toBe(false);
    await server.kill("SIGTERM");
    expect(JSON.parse(server.stdout())).toEqual(told);
  });

  test("outside dev mode the key is known until its file is deleted", async () => {
    const first = start([], "prod");
    const apiKey = (await first.ready())?.apiKey;
    expect(apiKey).toMatch(/^ms_live_/);
    await first.kill("SIGTERM");
    const { keysFile, apiKey: printed } = JSON.parse(first.stdout());
    expect(printed).toBeNull();
    expect(JSON.parse(readFileSync(keysFile, "utf8")).apiKey).toBe(apiKey);
    rmSync(keysFile);
    expect((await start([], "prod").ready())?.apiKey).toBeNull();
  });
});
