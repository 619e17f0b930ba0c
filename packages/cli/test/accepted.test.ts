import { describe, expect, test } from "vitest";
import { TERMINAL } from "./harness.ts";
import { type Beside, startCliWithServer } from "./world.ts";

const SEND = ["send", "--from", "hello@acme.example", "--to", "ada@example.com", "--subject", "s", "--text", "t", "--wait"];
const ACCEPTED = /Accepted as em_\w{26}; its outcome is not known\./;

/** A `fetch` that passes writes on, and answers reads as told. */
const readsAs =
  ({ world }: Beside, read: () => Promise<Response> | Response): typeof fetch =>
  (url, init) =>
    init?.method === "POST" ? world.fetch(url, init) : Promise.resolve().then(read);

const refuse = (status: number, code: string) => () =>
  Response.json({ error: { code, message: `Refused by ${code}.`, details: [] } }, { status, headers: { "x-request-id": "req_1" } });

const END: readonly [string, number, () => Promise<Response> | Response][] = [
  ["the connection is lost", 10, () => Promise.reject(Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNREFUSED" } }))],
  ["the key was revoked", 4, refuse(401, "unauthorized")],
  ["the mail is gone", 6, refuse(404, "not_found")],
  ["the server fails", 9, refuse(500, "internal_error")],
  ["something else answers", 6, () => new Response("<html>", { status: 404, headers: { "content-type": "text/html" } })],
];

describe("send --wait prints the id of an accepted mail in each case", () => {
  test.each(END)("when %s", async (_why, code, read) => {
    const beside = await startCliWithServer();
    const ended = await beside.mailsvc([...SEND, "--timeout", "1s"], { fetch: readsAs(beside, read) });
    expect([ended.code, ended.json]).toEqual([code, { id: expect.stringMatching(/^em_/), status: "queued" }]);
    expect(ended.stderr).toMatch(ACCEPTED);
    expect(ended.stderr).toContain(`try mailsvc emails get ${ended.json.id}`);
    const json = await beside.mailsvc([...SEND, "--timeout", "1s", "--json"], { fetch: readsAs(beside, read) });
    expect(json.json).toEqual({ id: expect.stringMatching(/^em_/), status: "queued" });
    expect(JSON.parse(json.stderr).error).toMatchObject({ message: expect.stringMatching(ACCEPTED), exit: code });
    const filtered = await beside.mailsvc([...SEND, "--timeout", "1s", "--jq", ".id"], { fetch: readsAs(beside, read) });
    expect(filtered.stdout).toMatch(/^em_\w{26}\n$/);
  });

  test("when Ctrl-C comes, with exit 130", async () => {
    const beside = await startCliWithServer();
    let interrupt = (): void => {};
    const read = (): Response => {
      interrupt();
      return refuse(404, "not_found")();
    };
    const ended = await beside.mailsvc(SEND, {
      onStart: (signal) => {
        interrupt = () => signal("SIGINT");
      },
      fetch: readsAs(beside, read),
    });
    expect([ended.code, ended.json.status]).toEqual([130, "queued"]);
    expect(ended.stderr).toMatch(/Accepted as em_\w+; its outcome is not known\. Cancelled\./);
  });

  test("before it begins to wait, so that a killed program has printed it", async () => {
    const beside = await startCliWithServer();
    for (const setup of [{}, { tty: TERMINAL, env: { NO_COLOR: "1" } }]) {
      let printed = "";
      let before = "";
      const read = (): Response => {
        before = printed;
        return refuse(500, "internal_error")();
      };
      const onOutput = (text: string): void => {
        printed += text;
      };
      await beside.mailsvc([...SEND, "--timeout", "1s"], { ...setup, onOutput, fetch: readsAs(beside, read) });
      expect(before).toMatch(/em_\w{26}/);
    }
  });

  test("with exit 0 and a note when the key may not read", async () => {
    const { mailsvc } = await startCliWithServer();
    const key = (await mailsvc(["keys", "create", "--name", "ci", "--permission", "transactional:send"])).json.key;
    const sent = await mailsvc([...SEND, "--api-key", key]);
    expect([sent.code, sent.json]).toEqual([0, { id: expect.stringMatching(/^em_/), status: "queued" }]);
    expect(sent.stderr).toMatch(/Accepted as em_\w+; its outcome is not known\. This key may not read it\./);
  });

  test("on stderr when nobody reads stdout", async () => {
    const { mailsvc } = await startCliWithServer();
    const sent = await mailsvc(SEND, { reads: () => false });
    expect([sent.code, sent.stdout]).toEqual([0, ""]);
    expect(sent.stderr).toMatch(ACCEPTED);
  });

  test("as one document with the outcome when all goes well", async () => {
    const { mailsvc } = await startCliWithServer();
    for (const setup of [{}, { tty: TERMINAL }]) {
      const { code, json } = await mailsvc([...SEND, "--json"], setup);
      expect([code, Object.keys(json)]).toEqual([0, ["id", "status", "emails"]]);
    }
  });
});

describe("--idempotency-key auto", () => {
  test("sends the same mail once, and other mail", async () => {
    const { mailsvc } = await startCliWithServer();
    const args = [...SEND, "--idempotency-key", "auto"];
    const [first, again] = [await mailsvc(args), await mailsvc(args)];
    expect([again.code, again.json.id]).toEqual([0, first.json.id]);
    const other = await mailsvc([...args, "--tag", "kind=other"]);
    expect([other.code, other.json.id === first.json.id]).toEqual([0, false]);
  });

  test("is refused with a time that is another one at each run", async () => {
    const { mailsvc } = await startCliWithServer();
    const later = await mailsvc([...SEND.slice(0, -1), "--schedule", "in 10m", "--idempotency-key", "auto"]);
    expect([later.code, later.stdout]).toEqual([2, ""]);
    const at = new Date(Date.now() + 86_400_000).toISOString();
    const fixed = await mailsvc([...SEND.slice(0, -1), "--schedule", at, "--idempotency-key", "auto"]);
    expect(fixed.code).toBe(0);
  });
});

describe("other writes that something follows", () => {
  test("trigger names what it has made when its event cannot be awaited", async () => {
    const beside = await startCliWithServer();
    const failing = (path: string): typeof fetch => {
      let wrote = false;
      return (url, init) => {
        if (wrote && String(url).includes(path)) return Promise.resolve(refuse(500, "internal_error")());
        wrote ||= init?.method === "POST";
        return beside.world.fetch(url, init);
      };
    };
    const ended = await beside.mailsvc(["trigger", "email.bounced", "--timeout", "1s"], { fetch: failing("/events") });
    expect([ended.code, ended.json.id]).toEqual([9, expect.stringMatching(/^em_/)]);
    expect(ended.stderr).toMatch(ACCEPTED);
  });

  test("a full disk is no bug of the program, and what was done is told", async () => {
    const { mailsvc } = await startCliWithServer();
    const full = { failing: "ENOSPC" } as const;
    const listed = await mailsvc(["emails", "list"], full);
    expect([listed.code, listed.stderr]).toEqual([74, expect.stringContaining("no space is left on the device")]);
    const sent = await mailsvc(SEND.slice(0, -1), full);
    expect([sent.code, sent.stderr]).toEqual([74, expect.stringMatching(ACCEPTED)]);
  });
});
