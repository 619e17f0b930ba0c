import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import express from "express";
import fastify from "fastify";
import { H3, readBody } from "h3";
import { Hono } from "hono";
import Koa from "koa";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Agent, createAgent } from "../agent.ts";
import { sampleEvent } from "../testing/sample-events.ts";
import { type SignedRequest, signedRequest } from "../testing/signed-request.ts";
import { expressHandler } from "./express.ts";
import { fastifyHandler, fastifyPlugin } from "./fastify.ts";
import { fetchHandler } from "./fetch.ts";
import { h3Handler } from "./h3.ts";
import { honoHandler } from "./hono.ts";
import { koaMiddleware } from "./koa.ts";
import { lambdaHandler } from "./lambda.ts";
import { nodeHandler } from "./node.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** Sends a request to an application and returns its answer. */
type Send = (request: SignedRequest | { method: "GET" }) => Promise<{ status: number; text: string }>;

/** An application that has the webhook at /webhook. `parsing` parses bodies as JSON before the webhook sees them. */
interface Application {
  name: string;
  open(agent: Agent, parsing: boolean): Promise<Send> | Send;
  /** Part of the remedy that the error for a parsed body names. */
  remedy: string;
}

const read = async (response: Response) => ({ status: response.status, text: await response.text() });
const viaFetch =
  (handler: (request: Request) => Response | Promise<Response>): Send =>
  async (request) =>
    read(await handler(new Request("http://agent.test/webhook", request)));

async function listen(server: Server): Promise<Send> {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`;
  return async (request) => read(await fetch(url, request));
}
const listenNode = (listener: RequestListener): Promise<Send> => listen(createServer(listener));

const lambda =
  (version: 1 | 2, encoded: boolean) =>
  (agent: Agent, parsing: boolean): Send =>
  async (request) => {
    const { method, headers = {}, body = "" } = request as SignedRequest;
    const event = {
      // Version 1 keeps the case in which the sender wrote a header.
      headers: version === 1 ? Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value])) : headers,
      ...(version === 1 ? { httpMethod: method } : { version: "2.0", requestContext: { http: { method } } }),
      body: parsing ? JSON.parse(body) : encoded ? Buffer.from(body).toString("base64") : body,
      isBase64Encoded: encoded,
    };
    const { statusCode, body: text } = await lambdaHandler(agent)(event);
    return { status: statusCode, text };
  };

const applications: Application[] = [
  {
    name: "node:http",
    open: (agent, parsing) =>
      listenNode(async (request, response) => {
        // As Next.js's pages router does.
        if (parsing) Object.assign(request, { body: JSON.parse(Buffer.concat(await request.toArray()).toString()) });
        await nodeHandler(agent)(request, response);
      }),
    remedy: "bodyParser: false",
  },
  {
    name: "node:http, the stream consumed",
    open: (agent, parsing) =>
      listenNode(async (request, response) => {
        if (parsing) await request.toArray();
        await nodeHandler(agent)(request, response);
      }),
    remedy: "before anything reads the request",
  },
  {
    name: "express",
    open: (agent, parsing) => {
      const app = express();
      if (parsing) app.use(express.json());
      app.post("/webhook", expressHandler(agent));
      return listenNode(app);
    },
    remedy: 'express.raw({ type: "*/*" })',
  },
  {
    name: "express with its raw parser",
    open: (agent, parsing) => {
      const app = express();
      if (parsing) app.use(express.json());
      app.post("/webhook", express.raw({ type: "*/*" }), expressHandler(agent));
      return listenNode(app);
    },
    remedy: "before app.use(express.json())",
  },
  {
    name: "fastify",
    open: async (agent, parsing) => {
      const app = fastify();
      if (parsing) app.post("/webhook", fastifyHandler(agent));
      else app.register(fastifyPlugin(agent, "/webhook"));
      await app.ready();
      onTestFinished(() => app.close());
      return async ({ method, ...rest }) => {
        const { headers, body } = rest as SignedRequest;
        const response = await app.inject({ method, url: "/webhook", ...(headers && { headers }), ...(body && { payload: body }) });
        return { status: response.statusCode, text: response.body };
      };
    },
    remedy: "register fastifyPlugin(agent)",
  },
  {
    name: "koa",
    open: (agent, parsing) => {
      const app = new Koa();
      // Parsed body, as koa-bodyparser leaves it, without the raw text that some of its versions keep.
      if (parsing)
        app.use(async (context, next) => {
          Object.assign(context.request, { body: JSON.parse(Buffer.concat(await context.req.toArray()).toString()) });
          await next();
        });
      app.use(koaMiddleware(agent, "/webhook"));
      return listenNode(app.callback());
    },
    remedy: "before the body parser",
  },
  {
    name: "hono",
    open: (agent, parsing) => {
      const app = new Hono();
      if (parsing)
        app.use(async (context, next) => {
          await context.req.json();
          await next();
        });
      app.post("/webhook", honoHandler(agent));
      return viaFetch(app.fetch);
    },
    remedy: "In Hono",
  },
  {
    name: "h3",
    open: (agent, parsing) => {
      const app = new H3();
      if (parsing) app.use(async (event) => void (await readBody(event)));
      app.post("/webhook", h3Handler(agent));
      return viaFetch((request) => app.fetch(request));
    },
    remedy: "before readBody(event)",
  },
  {
    name: "Request and Response",
    open: (agent, parsing) =>
      viaFetch(async (request) => {
        if (parsing) await request.json();
        return fetchHandler(agent)(request);
      }),
    remedy: "not after request.json()",
  },
  { name: "Lambda, version 1", open: lambda(1, false), remedy: "httpJsonBodyParser" },
  { name: "Lambda, version 1, base64", open: lambda(1, true), remedy: "httpJsonBodyParser" },
  { name: "Lambda, version 2", open: lambda(2, false), remedy: "httpJsonBodyParser" },
  { name: "Lambda, version 2, base64", open: lambda(2, true), remedy: "httpJsonBodyParser" },
];

describe.each(applications)("$name", ({ open, remedy }) => {
  const start = async (parsing: boolean) => {
    const heard: string[] = [];
    const errors: unknown[] = [];
    const agent = createAgent({ secret, mode: "inline" });
    agent.on("message.posted", ({ event }) => heard.push(event.text)).onError((error) => errors.push(error));
    return { send: await open(agent, parsing), heard, errors };
  };

  test("hands the raw bytes to the agent", async () => {
    const { send, heard, errors } = await start(false);
    // Spaces and escapes that writing the JSON again would change.
    const body = JSON.stringify(sampleEvent("message.posted", { text: "Ünïcödé ✉ \u2028 1.0" }), null, 3).replace("Ü", "\\u00dc");
    const { status, text } = await send(signedRequest(body, { secret }));
    expect([status, text]).toEqual([200, '{"received":true}']);
    expect(heard).toEqual(["Ünïcödé ✉ \u2028 1.0"]);
    expect(errors).toEqual([]);
  });

  test("answers 401 to a body that was changed, and the handler does not run", async () => {
    const { send, heard } = await start(false);
    const request = signedRequest(sampleEvent("message.posted"), { secret });
    expect((await send({ ...request, body: `${request.body} ` })).status).toBe(401);
    expect((await send({ ...request, headers: { "content-type": "application/json" } })).status).toBe(401);
    expect((await send(signedRequest(sampleEvent("message.posted"), { secret: "whsec_b3RoZXI=" }))).status).toBe(401);
    expect(heard).toEqual([]);
  });

  test("answers a body that was parsed before with the framework's remedy", async () => {
    const { send, heard, errors } = await start(true);
    const { status, text } = await send(signedRequest(sampleEvent("message.posted"), { secret }));
    expect(status).toBe(500);
    expect((JSON.parse(text) as { hint: string }).hint).toContain(remedy);
    expect(errors).toMatchObject([{ name: "ParsedBodyError" }]);
    expect(heard).toEqual([]);
  });
});

describe.each(applications.filter(({ name }) => !name.startsWith("Lambda")))("$name", ({ open }) => {
  test("has nothing for GET", async () => {
    const errors: unknown[] = [];
    const send = await open(
      createAgent({ secret }).onError((error) => errors.push(error)),
      false,
    );
    expect([404, 405]).toContain((await send({ method: "GET" })).status);
    expect(errors).toEqual([]);
  });
});

test("Workers learn of the work that goes on after the response", async () => {
  const worked: string[] = [];
  const agent = createAgent({ secret }).on("test.ping", async () => void worked.push("done"));
  const waits: Promise<unknown>[] = [];
  const request = new Request("http://agent.test/webhook", signedRequest(sampleEvent("test.ping"), { secret }));
  const response = await fetchHandler(agent)(request, { waitUntil: (work: Promise<unknown>) => waits.push(work) });
  expect(response.status).toBe(200);
  await Promise.all(waits);
  expect(worked).toEqual(["done"]);
});

describe("a body of more than a megabyte is refused while it arrives, and not kept", () => {
  const MEGABYTE = 1_048_576;
  /** A body of 100 MB. */
  const endless = () => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (sent >= 100) return controller.close();
        sent += 1;
        controller.enqueue(new Uint8Array(MEGABYTE));
      },
    });
    return { body, sent: () => sent };
  };

  test.each<[string, (agent: Agent) => (request: Request) => Promise<Response> | Response]>([
    ["fetch", (agent) => fetchHandler(agent)],
    ["hono", (agent) => new Hono().post("/webhook", honoHandler(agent)).fetch],
    [
      "h3",
      (agent) => {
        const app = new H3();
        app.post("/webhook", h3Handler(agent));
        return (request) => app.fetch(request);
      },
    ],
  ])("%s", async (_name, handlerOf) => {
    const agent = createAgent({ secret });
    const handle = vi.spyOn(agent, "handle");
    const { body, sent } = endless();
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    const { status } = await handlerOf(agent)(new Request("http://agent.test/webhook", init));
    expect([status, sent()]).toEqual([413, 100]);
    expect(handle.mock.calls.map(([bytes]) => bytes.length)).toEqual([MEGABYTE + 1]);
  });

  test("node:http", async () => {
    const send = await listenNode(nodeHandler(createAgent({ secret })));
    expect((await send(signedRequest({ filler: "x".repeat(3_000_000) }, { secret }))).status).toBe(413);
  });
});

describe("a sender without the secret rings no alarm", () => {
  const silent = () => {
    const errors: unknown[] = [];
    return { errors, agent: createAgent({ secret }).onError((error) => errors.push(error)) };
  };

  test.each(applications.filter(({ name }) => name !== "express with its raw parser"))("by an empty body: $name", async ({ open }) => {
    const { agent, errors } = silent();
    const send = await open(agent, false);
    const { status } = await send({ method: "POST", headers: {}, body: "" });
    expect([status, errors]).toEqual([401, []]);
  });

  test.each<[string, (agent: Agent) => RequestListener]>([
    ["node:http", nodeHandler],
    ["express", (agent) => express().post("/webhook", expressHandler(agent))],
    [
      "koa",
      (agent) => {
        const app = new Koa().use(koaMiddleware(agent, "/webhook"));
        app.silent = true;
        return app.callback();
      },
    ],
  ])("by going away in the middle of a body: %s", async (_name, listenerOf) => {
    const { agent, errors } = silent();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const listener = listenerOf(agent);
    const server = createServer((request, response) => {
      request.once("close", () => setImmediate(resolve));
      listener(request, response);
    });
    await listen(server);
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.write("POST /webhook HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{");
    await once(server, "request");
    socket.destroy();
    await ended;
    expect(errors).toEqual([]);
  });

  test("by a broken stream", async () => {
    const { agent, errors } = silent();
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) });
    const request = new Request("http://agent.test/webhook", { method: "POST", body, duplex: "half" } as RequestInit);
    expect([(await fetchHandler(agent)(request)).status, errors]).toEqual([400, []]);
  });
});

describe("Lambda behind a load balancer with multi-value headers", () => {
  const event = (method: string) => {
    const { headers, body } = signedRequest(sampleEvent("test.ping"), { secret });
    const multiValueHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    return { httpMethod: method, requestContext: { elb: { targetGroupArn: "arn" } }, multiValueHeaders, body, isBase64Encoded: false };
  };

  test("is verified, and answered in the same form", async () => {
    const result = await lambdaHandler(createAgent({ secret, mode: "inline" }))(event("POST"));
    expect(result).toMatchObject({ statusCode: 200, multiValueHeaders: { "content-type": ["application/json"] } });
  });

  test("refuses a signature that came twice", async () => {
    const twice = event("POST");
    const signature = twice.multiValueHeaders["x-service-signature"] ?? [];
    twice.multiValueHeaders = { "x-service-signature": [...signature, ...signature] };
    expect((await lambdaHandler(createAgent({ secret }))(twice)).statusCode).toBe(401);
  });

  test("has nothing for GET, nor have the other forms", async () => {
    const handler = lambdaHandler(createAgent({ secret }));
    expect((await handler(event("GET"))).statusCode).toBe(405);
    expect((await handler({ httpMethod: "GET", headers: {} })).statusCode).toBe(405);
    expect((await handler({ requestContext: { http: { method: "GET" } }, headers: {} })).statusCode).toBe(405);
  });
});
