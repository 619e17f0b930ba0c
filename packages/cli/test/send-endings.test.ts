import { Mailsvc } from "@mailsvc/sdk";
import { describe, expect, test } from "vitest";
import type { Setup } from "./harness.ts";
import { type Beside, startCliWithServer } from "./world.ts";

/*
 * The ways in which `send --wait` can end. In each, stdout has the id of the mail as soon as the server has answered, the exit code tells what is
 * known, and repeating the command under `--idempotency-key auto` sends the mail once.
 */

const ADA = "ada@example.com";
const AT = "simulator.mailsvc.test";

type Answer = () => Promise<Response> | Response;

const lose =
  (code: string): Answer =>
  () =>
    Promise.reject(Object.assign(new TypeError("fetch failed"), { cause: { code } }));
const refuse =
  (status: number, code: string): Answer =>
  () =>
    Response.json({ error: { code, message: `Refused by ${code}.`, details: [] } }, { status });
const page =
  (status: number): Answer =>
  () =>
    new Response("<html>", { status, headers: { "content-type": "text/html" } });
const broken: Answer = () => new Response('{"id":', { headers: { "content-type": "application/json" } });

/** Never answers; it ends with the program's time limit. */
const hang = (signal: AbortSignal | null | undefined): Promise<Response> =>
  new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true }));

const send = (to: readonly string[] = [ADA]): string[] => [
  ...["send", "--from", "hello@acme.example", "--subject", "s", "--text", "t", "--wait=2s"],
  ...to.flatMap((one) => ["--to", one]),
  ...["--idempotency-key", "auto", "--timeout", "1s"],
];

const countMails = async ({ world }: Beside): Promise<number> => (await world.sdk.emails.list({ limit: 100 })).data.length;

const isSend = (init: RequestInit | undefined): boolean => init?.method === "POST";

/** Runs the command once more, undisturbed: it ends well, and there is one mail. */
async function repeat(beside: Beside, argv = send()): Promise<string> {
  const again = await beside.mailsvc(argv);
  expect([again.code, again.stderr]).toEqual([0, ""]);
  expect(await countMails(beside)).toBe(1);
  return again.json.id;
}

/** Runs the command and sends it a signal at the first request to which `answer` says so; that request hangs then. */
function endBySignal(
  beside: Beside,
  name: "SIGINT" | "SIGTERM",
  answer: (...request: Parameters<typeof fetch>) => Promise<Response | "signal">,
): ReturnType<Beside["mailsvc"]> {
  let signal = (_name: typeof name): void => {};
  return beside.mailsvc(send(), {
    fetch: async (url, init) => {
      const answered = await answer(url, init);
      if (answered !== "signal") return answered;
      signal(name);
      return hang(init?.signal);
    },
    onStart: (fire) => {
      signal = fire;
    },
  });
}

describe("a send that the server has not answered prints no id, and is done once when it is repeated", () => {
  test.each<[string, number, Answer | "hang"]>([
    ["the connection is refused", 10, lose("ECONNREFUSED")],
    ["the name is unknown", 10, lose("ENOTFOUND")],
    ["the connection is reset", 10, lose("ECONNRESET")],
    ["the certificate is not trusted", 10, lose("SELF_SIGNED_CERT_IN_CHAIN")],
    ["nothing comes in time", 10, "hang"],
    ["the input is refused", 3, refuse(400, "validation_error")],
    ["the key is not valid", 4, refuse(401, "unauthorized")],
    ["the key may not send", 5, refuse(403, "forbidden")],
    ["another server answers", 6, page(404)],
    ["a key was used for other contents", 7, refuse(409, "idempotency_key_reused")],
    ["the body is too large", 3, refuse(413, "payload_too_large")],
    ["there are too many requests", 8, refuse(429, "rate_limited")],
    ["the server fails", 9, refuse(500, "internal_error")],
    ["a proxy finds no server", 9, page(502)],
    ["the server is full", 9, refuse(503, "storage_unavailable")],
  ])("when %s", async (_why, code, answer) => {
    const beside = await startCliWithServer();
    // One half of them is lost before the server has it, the other one after it has stored the mail.
    for (const isStored of [false, true]) {
      const fetch: typeof globalThis.fetch = async (url, init) => {
        if (!isSend(init)) return beside.world.fetch(url, init);
        if (isStored) await beside.world.fetch(url, init);
        return answer === "hang" ? hang(init?.signal) : answer();
      };
      const ended = await beside.mailsvc(send(), { fetch });
      expect([ended.code, ended.stdout]).toEqual([code, ""]);
      expect(ended.stderr).toMatch(/^error /m);
      expect(ended.stderr).not.toContain("Accepted");
    }
    await repeat(beside);
  });

  test("an answer that is lost once is asked for again within the same run", async () => {
    const beside = await startCliWithServer();
    let lost = false;
    const fetch: typeof globalThis.fetch = async (url, init) => {
      const response = await beside.world.fetch(url, init);
      if (!isSend(init) || lost) return response;
      lost = true;
      return lose("ECONNRESET")();
    };
    const ended = await beside.mailsvc(send(), { fetch });
    expect([ended.code, Object.keys(ended.json)]).toEqual([0, ["id", "status", "emails"]]);
    expect(await repeat(beside)).toBe(ended.json.id);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("when %s comes before the answer", async (name) => {
    const beside = await startCliWithServer();
    const ended = await endBySignal(beside, name, async (url, init) => {
      if (!isSend(init)) return beside.world.fetch(url, init);
      await beside.world.fetch(url, { ...init, signal: null });
      return "signal";
    });
    expect([ended.code, ended.stdout]).toEqual([130, ""]);
    await repeat(beside);
  });
});

describe("a send that was accepted has its id on stdout, whatever follows, and is not done again", () => {
  test.each<[string, number, Answer | "hang"]>([
    ["the connection is lost", 10, lose("ECONNREFUSED")],
    ["the connection is reset", 10, lose("ECONNRESET")],
    ["nothing comes in time", 10, "hang"],
    ["the key was revoked", 4, refuse(401, "key_revoked")],
    ["the key may not read", 0, refuse(403, "forbidden")],
    ["the mail is gone", 6, refuse(404, "not_found")],
    ["there are too many requests", 8, refuse(429, "rate_limited")],
    ["the server fails", 9, refuse(500, "internal_error")],
    ["a proxy finds no server", 9, page(502)],
    ["the database is away", 9, refuse(503, "storage_unavailable")],
    ["something else answers", 6, page(404)],
  ])("and then %s", async (_why, code, answer) => {
    const beside = await startCliWithServer();
    const fetch: typeof globalThis.fetch = (url, init) =>
      isSend(init) ? beside.world.fetch(url, init) : answer === "hang" ? hang(init?.signal) : Promise.resolve().then(answer);
    const ended = await beside.mailsvc(send(), { fetch });
    expect([ended.code, ended.json]).toEqual([code, { id: expect.stringMatching(/^em_/), status: "queued" }]);
    expect(ended.stderr).toMatch(/Accepted as em_\w{26}; its outcome is not known\./);
    expect(await repeat(beside)).toBe(ended.json.id);
  });

  test("and the answers are broken: the program says so and its id is out", async () => {
    const beside = await startCliWithServer();
    const fetch: typeof globalThis.fetch = async (url, init) => (isSend(init) ? beside.world.fetch(url, init) : broken());
    const ended = await beside.mailsvc(send(), { fetch });
    expect(ended.code).not.toBe(0);
    expect(ended.json).toEqual({ id: expect.stringMatching(/^em_/), status: "queued" });
    expect(await repeat(beside)).toBe(ended.json.id);
  });

  test("and the server is away for some of its questions, as while it is restarted", async () => {
    const beside = await startCliWithServer();
    let asked = 0;
    const fetch: typeof globalThis.fetch = (url, init) => {
      if (!isSend(init)) asked += 1;
      return !isSend(init) && asked < 3 ? Promise.resolve().then(lose("ECONNREFUSED")) : beside.world.fetch(url, init);
    };
    const ended = await beside.mailsvc(send().with(-1, "20s"), { fetch });
    expect([ended.code, ended.json.emails]).toMatchObject([0, [{ status: "delivered" }]]);
    expect(await repeat(beside)).toBe(ended.json.id);
  });

  /** Something that happens to a mail that waits, before the first question about it. */
  async function during(act: (beside: Beside, id: string) => Promise<unknown>) {
    const beside = await startCliWithServer();
    const operator = new Mailsvc({ apiKey: beside.world.operatorKey, baseUrl: beside.world.url, fetch: beside.world.fetch });
    await operator.queue.pause({});
    let acted: Promise<unknown> | null = null;
    const fetch: typeof globalThis.fetch = async (url, init) => {
      if (!isSend(init)) {
        acted ??= act(beside, /em_\w+/.exec(String(url))?.[0] ?? "");
        await acted;
      }
      return beside.world.fetch(url, init);
    };
    return { beside, operator, ended: await beside.mailsvc(send(), { fetch }) };
  }

  test("and then it is cancelled", async () => {
    const { ended, beside } = await during(({ world }, id) => world.sdk.emails.cancel(id));
    expect([ended.code, ended.json.emails]).toMatchObject([12, [{ status: "cancelled" }]]);
    expect(await countMails(beside)).toBe(1);
    const again = await beside.mailsvc(send());
    expect([again.code, again.json.id]).toEqual([12, ended.json.id]);
    expect(await countMails(beside)).toBe(1);
  });

  test("and then the person is suppressed", async () => {
    const { ended, beside } = await during(async ({ world }) => {
      await world.sdk.suppressions.create({ email: ADA });
      await new Mailsvc({ apiKey: world.operatorKey, baseUrl: world.url, fetch: world.fetch }).queue.resume();
      await world.settle();
    });
    expect([ended.code, ended.json.emails]).toMatchObject([12, [{ status: "suppressed" }]]);
    expect(await countMails(beside)).toBe(1);
  });

  test("and then the person is erased", async () => {
    const { ended } = await during(({ world }) => world.sdk.people.erase(ADA));
    expect(ended.json.id).toMatch(/^em_/);
    expect([6, 12]).toContain(ended.code);
  });

  test("and its key is revoked", async () => {
    const beside = await startCliWithServer();
    const { id: keyId, key } = await beside.world.sdk.keys.create({
      name: "ci",
      permissions: ["transactional:send", "transactional:read"],
    });
    const fetch: typeof globalThis.fetch = async (url, init) => {
      if (!isSend(init)) await beside.world.sdk.keys.revoke(keyId).catch(() => {});
      return beside.world.fetch(url, init);
    };
    const ended = await beside.mailsvc([...send(), "--api-key", key], { fetch });
    expect([ended.code, ended.json]).toEqual([4, { id: expect.stringMatching(/^em_/), status: "queued" }]);
    expect(ended.stderr).toMatch(/Accepted as em_\w+; its outcome is not known\./);
  });

  test("and sending is paused for longer than it waits", async () => {
    const { ended, operator, beside } = await during(async () => {});
    expect([ended.code, ended.json.emails]).toMatchObject([10, [{ status: "queued" }]]);
    expect(ended.stderr).toContain("accepted, but not delivered after 2 s");
    await operator.queue.resume();
    expect(await repeat(beside)).toBe(ended.json.id);
  });

  test.each<[string, number, string[]]>([
    ["one bounces", 12, [`bounced@${AT}`]],
    ["it is delivered at the second attempt, which is later", 10, [`delayed@${AT}`]],
    ["of two one bounces", 11, [`delivered@${AT}`, `bounced@${AT}`]],
    ["both bounce", 12, [`bounced@${AT}`, `bounced+b@${AT}`]],
  ])("and %s", async (_what, code, to) => {
    const beside = await startCliWithServer();
    const ended = await beside.mailsvc(send(to));
    expect([ended.code, ended.json.emails]).toMatchObject([code, to.map((one) => ({ to: one }))]);
    const before = await countMails(beside);
    expect((await beside.mailsvc(send(to))).json.id ?? "ids").toBe(ended.json.id ?? "ids");
    expect(await countMails(beside)).toBe(before);
  });

  test.each<[string, number, Setup]>([
    ["nobody reads stdout", 0, { reads: () => false }],
    ["the disk of stdout is full", 74, { failing: "ENOSPC" }],
  ])("and %s: then stderr has the id", async (_why, code, setup) => {
    const beside = await startCliWithServer();
    const ended = await beside.mailsvc(send(), setup);
    expect([ended.code, ended.stdout]).toEqual([code, ""]);
    const [, id] = /Accepted as (em_\w{26});/.exec(ended.stderr) ?? [];
    expect(await repeat(beside)).toBe(id);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("and %s comes while it waits", async (name) => {
    const beside = await startCliWithServer();
    const ended = await endBySignal(beside, name, async (url, init) => (isSend(init) ? beside.world.fetch(url, init) : "signal"));
    expect([ended.code, ended.json.status]).toEqual([130, "queued"]);
    expect(ended.stderr).toMatch(/Accepted as em_\w+; its outcome is not known\. Cancelled\./);
    expect(await repeat(beside)).toBe(ended.json.id);
  });
});
