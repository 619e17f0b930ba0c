import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import fastify from "fastify";
import { H3, readBody } from "h3";
import { Hono } from "hono";
import Koa from "koa";
import { describe, expect, onTestFinished, test } from "vitest";
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
      // What koa-bodyparser leaves, but for the raw text that some of its versions keep.
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

test("a body of more than a megabyte is refused, also while it arrives", async () => {
  const agent = createAgent({ secret });
  const send = await listenNode(nodeHandler(agent));
  expect((await send(signedRequest({ filler: "x".repeat(3_000_000) }, { secret }))).status).toBe(413);
});
