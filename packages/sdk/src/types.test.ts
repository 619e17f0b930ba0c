import { describe, expect, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import {
  type AgentContract,
  agentContract,
  contract,
  type Endpoint,
  type MailsvcContract,
  type Output,
  type ParamNames,
} from "./contract/index.ts";
import type {
  AcceptedRecipient,
  AgentClient,
  APIPromise,
  CapturedMailDetail,
  ClockState,
  Email,
  EmailDetail,
  Job,
  PagePromise,
  Pagination,
  SendResponse,
} from "./index.ts";
import { type ApiError, createClient, type ErrorCode, isApiError, Mailsvc, type MailsvcError, type SafeResult } from "./index.ts";

const offline = async () => Response.json({ data: [], pagination: { nextCursor: null } });
const client = new Mailsvc({ baseUrl: "http://127.0.0.1:1", fetch: offline });

// Types only: the calls are never made.
const typesOf = (_: () => void): void => {};

type Call = (...args: never[]) => unknown;

/** Result of a method: the page of a list, a message of a stream. */
type Given<R> =
  R extends PagePromise<infer Item>
    ? { data: Item[]; pagination: Pagination }
    : R extends APIPromise<infer T>
      ? T
      : R extends AsyncGenerator<infer T>
        ? T
        : never;

/** The input of a method, after its path parameters; an agent's client fills in the first one. */
type Taken<M extends Call, Path extends string> = Parameters<M>[ParamNames<
  Path extends `${string}/:activationId${infer Rest}` ? `/${Rest}` : Path
>["length"]];

/** Body that the contract accepts. Its schema cannot express that html or text is required. */
type Body<B> = B extends z.ZodType
  ? z.input<B> extends { subject: string; from: string }
    ? z.input<B> & { html: string }
    : z.input<B>
  : never;

type Contradiction<E extends Endpoint, M extends Call> =
  | (Output<E> extends Given<ReturnType<M>> ? never : "result")
  | (Body<E["body"]> extends NonNullable<Taken<M, E["path"]>> ? never : "body");

/** The names of the methods whose types the contract contradicts. */
type Contradictions<C, M> = {
  [N in keyof C & keyof M]: {
    [V in keyof C[N] & keyof M[N]]: C[N][V] extends Endpoint
      ? M[N][V] extends Call
        ? Contradiction<C[N][V], M[N][V]> extends never
          ? never
          : [N, V, Contradiction<C[N][V], M[N][V]>]
        : never
      : never;
  }[keyof C[N] & keyof M[N]];
}[keyof C & keyof M];

describe("the types of the methods", () => {
  test("a send to one recipient answers an id, a batch answers ids, one mail to several its recipients, and any of them when that is not known", () => {
    const mail = { from: "a@acme.example", subject: "s", text: "t" };
    typesOf(() => {
      expectTypeOf(client.emails.send({ ...mail, to: "ada@example.com" })).resolves.toEqualTypeOf<{ id: string; status: "queued" }>();
      expectTypeOf(client.emails.send({ ...mail, to: ["ada@example.com"] }))
        .resolves.toHaveProperty("ids")
        .toEqualTypeOf<string[]>();
      expectTypeOf(client.emails.send({ ...mail, to: "x" as string | string[] })).resolves.toEqualTypeOf<SendResponse>();
      // @ts-expect-error the subject is missing
      client.emails.send({ to: "ada@example.com", from: "a@acme.example" });
      expectTypeOf(client.emails.send({ ...mail, to: ["ada@example.com"], together: true }))
        .resolves.toHaveProperty("recipients")
        .toEqualTypeOf<AcceptedRecipient[]>();
      expectTypeOf(client.emails.send({ ...mail, to: "ada@example.com", bcc: "x@example.com" }))
        .resolves.toHaveProperty("id")
        .toEqualTypeOf<string>();
      // @ts-expect-error no such field
      client.emails.send({ ...mail, to: "ada@example.com", copy: "x" });
    });
    expect(client.emails.send).toBeTypeOf("function");
  });

  test("path parameters come first, then the input, then options", () => {
    expectTypeOf<Parameters<typeof client.emails.get>>().toExtend<[id: string, options?: object | undefined]>();
    typesOf(() => {
      expectTypeOf(client.emails.get("em_1")).toEqualTypeOf<APIPromise<EmailDetail>>();
      expectTypeOf(client.emails.get("em_1", { timeoutMs: 1 })).resolves.toEqualTypeOf<EmailDetail>();
      expectTypeOf(client.emails.reschedule("em_1", { scheduledAt: "2030-01-01T00:00:00Z" })).resolves.toEqualTypeOf<Email>();
      expectTypeOf(client.senders.confirm("token")).resolves.toEqualTypeOf<string>();
      // @ts-expect-error an id is needed
      client.emails.get();
      // @ts-expect-error the input is needed
      client.emails.reschedule("em_1");
    });
    expect(client.emails.reschedule).toBeTypeOf("function");
  });

  test("results and bodies are those that the contract's schemas infer", () => {
    expectTypeOf<Contradictions<MailsvcContract, Mailsvc>>().toEqualTypeOf<never>();
    expectTypeOf<Contradictions<AgentContract, AgentClient>>().toEqualTypeOf<never>();
    expect(Object.keys({ ...contract, ...agentContract })).not.toHaveLength(0);
  });

  test("the input may be left out when every field is optional", () => {
    typesOf(() => {
      expectTypeOf(client.emails.list()).toEqualTypeOf<PagePromise<Email>>();
      expectTypeOf(client.jobs.list({ state: "dead" })).toEqualTypeOf<PagePromise<Job>>();
      expectTypeOf(client.inbox.wait({ to: "ada@example.com", timeout: 5 })).resolves.toEqualTypeOf<CapturedMailDetail>();
      expectTypeOf(client.clock.freeze()).resolves.toEqualTypeOf<ClockState>();
      expectTypeOf(client.clock.freeze({}, { maxRetries: 0 })).resolves.toEqualTypeOf<ClockState>();
      expectTypeOf(client.health.live({ timeoutMs: 5 })).resolves.toEqualTypeOf<{ status: "ok" }>();
    });
    expect(createClient({ fetch: offline }).health.live).toBeTypeOf("function");
  });

  test("a query takes numbers and booleans where the wire has text, and nothing else", () => {
    typesOf(() => {
      client.emails.list({ page: 2, limit: 50, inDoubt: true, status: "bounced" });
      // @ts-expect-error a page is a number
      client.emails.list({ page: {} });
      // @ts-expect-error no such status
      client.emails.list({ status: "lost" });
    });
    expect(client.emails.list).toBeTypeOf("function");
  });

  test("iterating a list gives its items, safe() a union, isApiError the code", async () => {
    const list = client.emails.list();
    expectTypeOf(list.toArray()).resolves.toEqualTypeOf<Email[]>();
    expectTypeOf(list.safe()).resolves.toExtend<SafeResult<{ data: Email[] }>>();
    for await (const email of list) expectTypeOf(email).toEqualTypeOf<Email>();
    const error: unknown = undefined;
    if (isApiError(error, "recipient_suppressed", "not_found")) {
      expectTypeOf(error.code).toEqualTypeOf<"recipient_suppressed" | "not_found">();
    }
    if (isApiError(error)) expectTypeOf(error).toEqualTypeOf<ApiError>();
    expectTypeOf<ErrorCode>().toExtend<ApiError["code"]>();
    // @ts-expect-error no such code
    expect(isApiError(error, "no_such_code")).toBe(false);
    const result = await list.safe();
    if (!result.ok) expectTypeOf(result.error).toEqualTypeOf<MailsvcError>();
    expect(result.ok).toBe(true);
  });
});
