import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Stripe from "stripe";

const KEY = "sk_test_standin";
const WEBHOOK_SECRET = "whsec_standin";

/** A request the stand-in got. */
interface StripeCall {
  readonly call: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly idempotencyKey: string | undefined;
}

/** As much of Stripe's API as listings need, on this machine: form in, JSON out, errors in Stripe's shape. */
export interface StripeStandIn {
  readonly key: string;
  readonly webhookSecret: string;
  readonly url: string;
  readonly calls: StripeCall[];
  /** Makes the next calls fail with this status. */
  failing: number | null;
  /** Answers the next calls in place of what is asked. */
  answering: ((response: ServerResponse) => void) | null;
  /** An event as Stripe sends it: its bytes and its signature. */
  sign(event: object, options?: { secret?: string; at?: number }): { body: string; headers: Record<string, string> };
  [Symbol.asyncDispose](): Promise<void>;
}

export async function stripeStandIn(now: () => number): Promise<StripeStandIn> {
  const calls: StripeCall[] = [];
  const sessions = new Map<string, string>();
  const state = { failing: null as number | null, answering: null as StripeStandIn["answering"] };
  const json = (response: ServerResponse, status: number, body: object): void => {
    response.writeHead(status, { "content-type": "application/json", "request-id": "req_standin" }).end(JSON.stringify(body));
  };
  const fail = (response: ServerResponse, status: number, type: string, code?: string): void =>
    json(response, status, { error: { type, code, message: `refused: ${KEY}` } });

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const fields = Object.fromEntries(new URLSearchParams(await read(request)));
    const call = `${request.method} ${request.url}`;
    calls.push({ call, fields, idempotencyKey: request.headers["idempotency-key"] as string | undefined });
    if (request.headers.authorization !== `Bearer ${KEY}`) return fail(response, 401, "invalid_request_error");
    if (state.answering !== null) return state.answering(response);
    if (state.failing !== null) return fail(response, state.failing, "api_error");
    if (call === "POST /v1/checkout/sessions") {
      const id = `cs_${sessions.size + 1}`;
      sessions.set(id, "open");
      const expires_at = Math.floor(now() / 1000) + 86_400;
      return json(response, 200, { id, object: "checkout.session", url: `https://checkout.stripe.test/${id}`, expires_at, status: "open" });
    }
    const expiring = /^POST \/v1\/checkout\/sessions\/(\w+)\/expire$/.exec(call)?.[1];
    if (expiring !== undefined) {
      if (sessions.get(expiring) !== "open") return fail(response, 400, "invalid_request_error");
      sessions.set(expiring, "expired");
      return json(response, 200, { id: expiring, object: "checkout.session", status: "expired" });
    }
    const stopping = /^DELETE \/v1\/subscriptions\/(\w+)$/.exec(call)?.[1];
    if (stopping !== undefined) {
      if (stopping === "sub_gone") return fail(response, 404, "invalid_request_error", "resource_missing");
      return json(response, 200, { id: stopping, object: "subscription", status: "canceled" });
    }
    return fail(response, 404, "invalid_request_error", "resource_missing");
  };

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const library = new Stripe(KEY);
  return {
    key: KEY,
    webhookSecret: WEBHOOK_SECRET,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    get failing() {
      return state.failing;
    },
    set failing(status: number | null) {
      state.failing = status;
    },
    get answering() {
      return state.answering;
    },
    set answering(answer) {
      state.answering = answer;
    },
    sign: (event, { secret = WEBHOOK_SECRET, at } = {}) => {
      const body = JSON.stringify(event);
      const header = library.webhooks.generateTestHeaderString({ payload: body, secret, ...(at !== undefined && { timestamp: at }) });
      return { body, headers: { "stripe-signature": header } };
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
