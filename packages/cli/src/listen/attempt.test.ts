import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import { selfSigned } from "../../../server/test/certificates.ts";
import { type AttemptParts, attemptDelivery } from "./attempt.ts";

const event = { id: "evt_1", type: "email.sent", at: "2030-01-01T00:00:00.000Z", body: "{}" };
const parts: AttemptParts = {
  secret: "whsec_c2VjcmV0",
  fetch: globalThis.fetch,
  listens: async () => true,
  now: () => 0,
  signal: new AbortController().signal,
};
const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    const closed = new Promise((done) => server.close(done));
    // fetch keeps connections open.
    if ("closeAllConnections" in server) (server as HttpServer).closeAllConnections();
    await closed;
  }
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("a certificate that is not trusted is named with what helps", async () => {
  const answer = (): never => expect.fail("The request arrived.");
  const at = await listen(createTlsServer(selfSigned(["127.0.0.1"]), answer));
  expect(await attemptDelivery(event, `https://${at}`, parts)).toMatchObject({
    ...{ status: null, failed: "impossible" },
    error:
      "its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT): name its authority in NODE_EXTRA_CA_CERTS=FILE, or give an http:// URL",
  });
});

test("a port that speaks no TLS, no HTTP, or is blocked by fetch is named with what helps", async () => {
  const http = await listen(createHttpServer((_request, response) => response.end()));
  const other = await listen(
    createServer((socket) =>
      socket
        .on("error", () => {})
        .resume()
        .end("SSH-2.0-OpenSSH_9.9\r\n"),
    ),
  );
  expect(await attemptDelivery(event, `http://${http}`, parts)).toMatchObject({ status: 200, failed: null, error: null });
  expect(await attemptDelivery(event, `https://${http}`, parts)).toMatchObject({
    failed: "impossible",
    error: expect.stringMatching(/^it does not speak TLS \(\w+\): give an http:\/\/ URL$/),
  });
  expect(await attemptDelivery(event, `http://${other}`, parts)).toMatchObject({
    failed: "impossible",
    error: expect.stringMatching(/^what it answers is not HTTP: give the port of the webhook/),
  });
  expect(await attemptDelivery(event, "http://127.0.0.1:6000", parts)).toMatchObject({
    failed: "impossible",
    error: expect.stringMatching(/^fetch and browsers block this port: /),
  });
});

test("a connection that breaks off is told from one that was not made, also where packets are dropped", async () => {
  const server = createServer((socket) => socket.on("error", () => {}).on("data", () => socket.destroy()));
  const at = await listen(server);
  expect(await attemptDelivery(event, `http://${at}`, parts)).toMatchObject({ failed: "unanswered" });
  servers.splice(0);
  await new Promise((closed) => server.close(closed));
  expect(await attemptDelivery(event, `http://${at}`, parts)).toMatchObject({ failed: "absent", error: "nothing listens there" });
  const silent: AttemptParts = { ...parts, fetch: () => Promise.reject(new DOMException("late", "TimeoutError")) };
  expect(await attemptDelivery(event, `http://${at}`, { ...silent, listens: async () => true })).toMatchObject({
    ...{ failed: "unanswered", error: "no answer within 8 s" },
  });
  expect(await attemptDelivery(event, `http://${at}`, { ...silent, listens: async () => false })).toMatchObject({
    ...{ failed: "absent", error: "no connection within 8 s" },
  });
});
