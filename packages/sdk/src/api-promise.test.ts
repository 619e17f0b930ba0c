import { describe, expect, test } from "vitest";
import { isApiError, Mailsvc, UsageError } from "./index.ts";

const counted = (answer: () => Response) => {
  let count = 0;
  const fetch = async () => {
    count += 1;
    return answer();
  };
  return { client: new Mailsvc({ baseUrl: "http://mail.test", maxRetries: 0, fetch }), count: () => count };
};

const alive = () => counted(() => Response.json({ status: "ok", version: "1" }, { headers: { "X-Request-Id": "req_9" } }));
const dead = () => counted(() => Response.json({ error: { code: "not_found", message: "No such thing." } }, { status: 404 }));

describe("the promise of a call", () => {
  test("sends one request, at once, however often and in whatever way it is asked", async () => {
    const { client, count } = alive();
    const call = client.health.live();
    await Promise.resolve();
    expect(count()).toBe(1);
    expect(await call).toEqual({ status: "ok", version: "1" });
    expect(await call.withResponse()).toEqual({
      data: { status: "ok", version: "1" },
      status: 200,
      headers: expect.objectContaining({ "x-request-id": "req_9" }),
      requestId: "req_9",
      attempts: 1,
      idempotencyKey: null,
      idempotencyReplayed: false,
    });
    expect(await call.safe()).toEqual({ ok: true, data: { status: "ok", version: "1" } });
    expect(await Promise.all([call, call.then((data) => data.status)])).toEqual([{ status: "ok", version: "1" }, "ok"]);
    expect(count()).toBe(1);
  });

  test("rejects, or with safe() hands the error over", async () => {
    const { client, count } = dead();
    const call = client.health.live();
    expect(await call.safe()).toMatchObject({ ok: false, error: { code: "not_found", message: "No such thing." } });
    await expect(call).rejects.toMatchObject({ status: 404 });
    expect(await call.catch((error) => isApiError(error, "not_found"))).toBe(true);
    let ended = false;
    await call.finally(() => (ended = true)).catch(() => {});
    expect([ended, count()]).toEqual([true, 1]);
  });

  test("leaves no rejection unhandled when only one of its faces is used", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    await dead().client.health.live().safe();
    await dead().client.emails.list().safe();
    await dead()
      .client.health.live()
      .withResponse()
      .catch(() => {});
    await dead()
      .client.emails.list()
      .toArray()
      .catch(() => {});
    await new Promise((turn) => setImmediate(turn));
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  test("rejects for wrong arguments too, so that one catch is enough", async () => {
    const { client, count } = alive();
    const { get, list } = client.emails as unknown as Record<"get" | "list", (...args: unknown[]) => Promise<unknown>>;
    await expect(get()).rejects.toThrow("emails.get: id must be a text that is not empty.");
    await expect(get("")).rejects.toThrow(UsageError);
    await expect(get("..")).rejects.toThrow('emails.get: id must not be "..".');
    await expect(get("a\ud800")).rejects.toThrow("emails.get: id is not valid Unicode.");
    await expect(list("bounced")).rejects.toThrow("emails.list: the input must be an object.");
    await expect(list({ to: { a: 1 } })).rejects.toThrow("emails.list: to must be a text");
    await expect(list({}, 5)).rejects.toThrow("emails.list: the options must be an object.");
    await expect(list({}, { timeoutMs: 0 })).rejects.toThrow("timeoutMs must be more than 0 milliseconds.");
    await expect(list({}, { maxRetries: 1.5 })).rejects.toThrow("maxRetries must be a whole number, 0 or more.");
    const { send } = client.emails as unknown as Record<"send", (...args: unknown[]) => Promise<unknown>>;
    await expect(send({ to: 1n })).rejects.toThrow("emails.send: the body cannot be written as JSON.");
    await expect(send({}, { idempotencyKey: "a\nb" })).rejects.toThrow("The idempotency key must be a text of plain ASCII");
    await expect(send({}, { idempotencyKey: " " })).rejects.toThrow("The idempotency key is empty.");
    expect(count()).toBe(0);
  });
});
