import { describe, expect, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import { contract, type MailsvcContract, type ParamNames } from "./contract/index.ts";
import type { APIPromise, CapturedMailDetail, ClockState, Email, EmailDetail, Job, PagePromise, SendResponse } from "./index.ts";
import { type ApiError, createClient, type ErrorCode, isApiError, Mailsvc, type MailsvcError, type SafeResult } from "./index.ts";
import type { PathArguments } from "./methods.ts";

const offline = async () => Response.json({ data: [], pagination: { nextCursor: null } });
const client = new Mailsvc({ baseUrl: "http://127.0.0.1:1", fetch: offline });

// Types only: the calls are never made.
const typesOf = (_: () => void): void => {};

describe("the types of the methods", () => {
  test("a send to one recipient answers an id, a batch answers ids, and either when that is not known", () => {
    const mail = { from: "a@acme.example", subject: "s", text: "t" };
    typesOf(() => {
      expectTypeOf(client.emails.send({ ...mail, to: "ada@example.com" })).resolves.toEqualTypeOf<{ id: string; status: "queued" }>();
      expectTypeOf(client.emails.send({ ...mail, to: ["ada@example.com"] }))
        .resolves.toHaveProperty("ids")
        .toEqualTypeOf<string[]>();
      expectTypeOf(client.emails.send({ ...mail, to: "x" as string | string[] })).resolves.toEqualTypeOf<SendResponse>();
      // @ts-expect-error the subject is missing
      client.emails.send({ to: "ada@example.com", from: "a@acme.example" });
      // @ts-expect-error no such field
      client.emails.send({ ...mail, to: "ada@example.com", bcc: "x" });
    });
    expect(client.emails.send).toBeTypeOf("function");
  });

  test("path parameters come first, then the input, then options", () => {
    expectTypeOf<Parameters<typeof client.emails.get>>().toExtend<[id: string, options?: object]>();
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

  test("every path parameter of the contract has a name for editors", () => {
    type Paths = { [N in keyof MailsvcContract]: MailsvcContract[N][keyof MailsvcContract[N]] }[keyof MailsvcContract] extends infer E
      ? E extends { path: infer P extends string }
        ? P
        : never
      : never;
    expectTypeOf<ParamNames<Paths>[number]>().toEqualTypeOf<keyof PathArguments>();
    expect(Object.keys(contract)).not.toHaveLength(0);
  });

  test("the input may be left out when every field is optional", () => {
    typesOf(() => {
      expectTypeOf(client.emails.list()).toEqualTypeOf<PagePromise<Email>>();
      expectTypeOf(client.jobs.list({ state: "dead" })).toEqualTypeOf<PagePromise<Job>>();
      expectTypeOf(client.inbox.wait({ to: "ada@example.com", timeout: 5 })).resolves.toEqualTypeOf<z.output<typeof CapturedMailDetail>>();
      expectTypeOf(client.clock.freeze()).resolves.toEqualTypeOf<ClockState>();
      expectTypeOf(client.clock.freeze({}, { maxRetries: 0 })).resolves.toEqualTypeOf<ClockState>();
      expectTypeOf(client.health.live({ timeoutMs: 5 })).resolves.toEqualTypeOf<{ status: "ok"; version: string }>();
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
