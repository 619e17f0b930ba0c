import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";
import { type Contender, call } from "../contenders.ts";
import { BODY } from "./load.ts";
import { personAt } from "./persons.ts";

const CONNECTIONS = 16;
const FOLLOWERS = 4;
const TICK_MS = 10;
/** Contacts that are written again and again, so that the audience stops growing during a warm-up. */
const PERSONS = 20_000;

/** Requests of all kinds that a product makes, with what follows from them: events to a webhook and to followers. */
interface MixedLoad {
  /** Sends `rate` requests a second, as many as the connections carry if it is infinite. Throws after a refused request. */
  run(options: { rate: number; until: () => boolean }): Promise<void>;
  answered(): number;
  /** Events that the webhook has received. */
  delivered(): number;
  close(): Promise<void>;
}

/** Starts a webhook and followers of the event stream; requests begin with `run`. */
export async function startMixedLoad(server: Contender): Promise<MixedLoad> {
  const { url, apiKey } = server;
  const webhook = await startWebhook();
  await call(server, "POST", "/api/v1/webhooks", { url: webhook.url });
  const following = new AbortController();
  await Promise.all(Array.from({ length: FOLLOWERS }, () => follow(server, following.signal)));
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  const seen: Seen = { emailId: "", sequence: 0 };
  let sent = 0;
  let answered = 0;
  let failure: Error | null = null;
  const send = async (): Promise<void> => {
    const { method, path, body } = requestAt(sent++, seen);
    const response = await pool.request({
      method,
      path,
      headers: { authorization: `Bearer ${apiKey}`, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
    if (path === SEND) seen.emailId = (JSON.parse(text) as { id: string }).id;
    if (path.startsWith(EVENTS)) seen.sequence = (JSON.parse(text) as { data: { sequence: number }[] }).data.at(-1)?.sequence ?? 0;
    answered += 1;
  };
  return {
    run: async ({ rate, until }) => {
      const [startedAt, sentBefore] = [performance.now(), sent];
      while (!until()) {
        const due = sentBefore + ((performance.now() - startedAt) / 1000) * rate;
        while (sent < due && sent - answered < CONNECTIONS && failure === null)
          send().catch((error: Error) => {
            failure = error;
          });
        if (failure !== null) throw failure;
        await new Promise((next) => setTimeout(next, rate === Number.POSITIVE_INFINITY ? 1 : TICK_MS));
      }
    },
    answered: () => answered,
    delivered: webhook.received,
    close: async () => {
      following.abort();
      await pool.destroy();
      await webhook.close();
    },
  };
}

interface Seen {
  /** The email that was accepted last. */
  emailId: string;
  /** The last event that was read; 0 after the end of what is kept, where reading starts again. */
  sequence: number;
}

const SEND = "/api/v1/send";
const EVENTS = "/api/v1/events?limit=50&after=";

/** Sends, an upsert, a search, an email by its id, pages of emails, of contacts and of events, in turn. */
function requestAt(i: number, { emailId, sequence }: Seen): { method: "GET" | "POST"; path: string; body?: unknown } {
  const n = Math.floor(i / 8);
  const person = personAt(n % PERSONS);
  switch (i % 8) {
    case 1:
      return { method: "POST", path: "/api/v1/v1/contacts", body: { ...person, customFields: { seats: n } } };
    case 2:
      return { method: "GET", path: `/api/v1/contacts?search=${encodeURIComponent(person.email.slice(0, 4 + (n % 12)))}` };
    case 3:
      return { method: "GET", path: emailId === "" ? "/api/v1/emails?limit=1" : `/api/v1/emails/${emailId}` };
    case 5:
      return { method: "GET", path: `/api/v1/emails?limit=20&status=${n % 2 === 0 ? "delivered" : "queued"}` };
    case 6:
      return { method: "GET", path: `/api/v1/contacts?limit=20&tag=${encodeURIComponent(person.tags[0] ?? "")}` };
    case 7:
      return { method: "GET", path: `${EVENTS}${sequence}` };
    default:
      return { method: "POST", path: SEND, body: { ...BODY, to: `reader${i}@mail.acme.dev` } };
  }
}

/** A webhook on this machine that takes everything. */
async function startWebhook(): Promise<{ url: string; received: () => number; close: () => Promise<void> }> {
  let received = 0;
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      received += 1;
      response.writeHead(204).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received: () => received,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** Follows the event stream until `signal`. Resolves once the server has answered. */
async function follow({ url, apiKey }: Contender, signal: AbortSignal): Promise<void> {
  const response = await fetch(`${url}/api/v1/events/stream`, { headers: { authorization: `Bearer ${apiKey}` }, signal });
  if (!response.ok || response.body === null) throw new Error(`The event stream answered ${response.status}.`);
  const body = response.body;
  void (async () => {
    for await (const _chunk of body);
  })().catch(() => {});
}
