import { afterEach, beforeEach, expect, test } from "vitest";
import { realTime } from "../lib/clock.ts";
import { silentLog } from "../lib/log.ts";
import { createEntrance, type Entrance } from "./entrance.ts";
import { InFlightRequests } from "./in-flight.ts";
import type { Router } from "./router.ts";
import { type ListeningServer, listen } from "./server.ts";

let entrance: Entrance;
let listening: ListeningServer;
let problem: Error | null;

/** What the app answers: the path, and that it was the app. */
const app: Router = {
  routed: async () => ({ fetch: (request: Request) => new Response(`app ${new URL(request.url).pathname}`) }) as never,
  serveDirectly: (req, res) => {
    if (req.url !== "/readyz") return false;
    res.writeHead(503).end("app /readyz");
    return true;
  },
};

beforeEach(async () => {
  problem = null;
  const ready = async (): Promise<object> => {
    if (problem) throw problem;
    return { status: "ready" };
  };
  entrance = createEntrance({ "/readyz": ready }, (prefix) => `${prefix}_1`);
  listening = await listen(entrance.router, {
    host: "127.0.0.1",
    port: 0,
    https: false,
    inFlight: new InFlightRequests(realTime),
    real: realTime,
    log: silentLog,
    maxConnections: 10,
    onConnection: () => {},
  });
});
afterEach(() => listening.close(0));

const get = async (path: string): Promise<[number, string]> => {
  const response = await fetch(`${listening.url}${path}`);
  return [response.status, await response.text()];
};

test("a probe is answered before there is an app, and by the app once there is one", async () => {
  expect(await get("/readyz")).toEqual([200, '{"status":"ready"}']);
  await entrance.asked;
  entrance.open(app);
  expect(await get("/readyz")).toEqual([503, "app /readyz"]);
});

test("any other request waits for the app, which its coming has loaded at once", async () => {
  const waiting = get("/api/v1/emails");
  await entrance.asked;
  expect(await get("/readyz")).toEqual([200, '{"status":"ready"}']);
  entrance.open(app);
  expect(await waiting).toEqual([200, "app /api/v1/emails"]);
});

test("a probe that fails is answered by the app, in the form of its errors", async () => {
  problem = new Error("The disk is full.");
  const waiting = get("/readyz");
  await entrance.asked;
  entrance.open(app);
  expect(await waiting).toEqual([503, "app /readyz"]);
});
