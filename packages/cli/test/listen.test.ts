import { PassThrough } from "node:stream";
import { verifySignature } from "@mailsvc/agent-kit";
import { unwrap } from "@mailsvc/sdk/webhooks";
import { describe, expect, test } from "vitest";
import { type Receiver, receiver } from "../../server/test/receiver.ts";
import type { ForwardedEvent } from "../src/listen/forwarder.ts";
import { RegisteredWebhook } from "../src/listen/webhook.ts";
import type { In } from "../src/types.ts";
import { folder, TERMINAL } from "./harness.ts";
import { deliveriesOf, listen, send } from "./listening.ts";
import { startCliWithServer } from "./world.ts";

describe("listen", () => {
  test("says that the server does not answer, and not that a connection was lost, before there was one", async () => {
    await using local = await receiver();
    const beside = await startCliWithServer();
    let failures = 0;
    const fetch = (async (input: string, init?: RequestInit) => {
      if (failures++ < 1) throw new TypeError("fetch failed");
      return beside.world.fetch(input, init);
    }) as typeof globalThis.fetch;
    const result = await listen(beside, ["--forward-to", local.url, "--secret", "whsec_eA=="], async () => {}, { fetch, tty: TERMINAL });
    expect(result.stderr).toMatch(/The server does not answer; trying again\.\n(?:.*\n)*Forwarding events/);
    expect(result.stderr).not.toContain("lost");
  });

  test("forwards the bytes of the real webhook, signed so that every verifier accepts them", async () => {
    await using real = await receiver();
    await using local = await receiver();
    const beside = await startCliWithServer();
    const { secret } = await beside.world.sdk.webhooks.create({ url: real.url });
    const result = await listen(beside, ["--forward-to", local.url, "--secret", secret, "--count", "3"], async () => {
      await send(beside, "ada@example.com");
      await beside.world.settle();
    });
    expect(result.code).toBe(0);
    await beside.world.settle();
    expect(local.received.map(({ body }) => body)).toEqual(real.received.map(({ body }) => body));
    for (const [i, { body, headers }] of local.received.entries()) {
      expect((await unwrap(body, headers, secret)).type).toBe(local.types()[i]);
      const signature = String(headers["x-service-signature"]);
      expect(verifySignature({ body: Buffer.from(body), secrets: secret, signature, id: null, timestamp: null })).not.toBeNull();
      const theirs = real.received[i]?.headers ?? {};
      for (const name of [
        "webhook-id",
        "x-service-event-id",
        "x-service-event-type",
        "x-service-timestamp",
        "x-service-signature",
        "x-service-attempt",
      ])
        expect([name, headers[name]]).toEqual([name, theirs[name]]);
    }
    expect(deliveriesOf(result)).toMatchObject([
      { sequence: 1, type: "email.queued", attempt: 1, status: 200, error: null, url: local.url },
      { sequence: 2, type: "email.sent" },
      { sequence: 3, type: "email.delivered" },
    ]);
    expect(result.lines.at(-1)).toEqual({ kind: "ended", forwarded: 3, failed: 0, position: 3 });
  });

  test("without a secret it signs with one of its own, the same at each start, and shows it", async () => {
    await using local = await receiver();
    const beside = await startCliWithServer();
    const printed = (await beside.mailsvc(["listen", "--print-secret"])).json.secret as string;
    const result = await listen(
      beside,
      ["--forward-to", local.url, "--count", "1"],
      async () => void (await send(beside, "ada@example.com")),
    );
    expect(result.lines[0]).toEqual({ kind: "ready", webhook: null, forwardTo: [local.url], secret: printed });
    const [{ body, headers } = { body: "", headers: {} }] = local.received;
    expect((await unwrap(body, headers, printed)).type).toBe("email.queued");
    expect(printed).not.toContain(beside.world.apiKey);
  });

  test("routes: the most specific one for a type wins, and what has none goes nowhere", async () => {
    await using bounces = await receiver();
    await using contacts = await receiver();
    const beside = await startCliWithServer();
    const routes = ["--route", `email.*=${contacts.url}`, "--route", `email.bounced=${bounces.url}`];
    await listen(beside, [...routes, "--count", "2"], async () => {
      await beside.world.sdk.contacts.create({ email: "ada@example.com" });
      await send(beside, "bounced@simulator.mailsvc.test");
    });
    expect([bounces.types(), contacts.types()]).toEqual([["email.bounced"], ["email.queued"]]);
  });

  test("filters are the server's, and a mistyped type is named with its neighbour", async () => {
    await using local = await receiver();
    const beside = await startCliWithServer();
    await listen(beside, ["--forward-to", local.url, "--type", "email.delivered", "--to", "b@example.com", "--count", "1"], async () => {
      await send(beside, "a@example.com");
      await send(beside, "b@example.com");
      await beside.world.settle();
    });
    expect(local.received.map(({ event }) => [event.type, event.to])).toEqual([["email.delivered", "b@example.com"]]);
    const wrong = await beside.mailsvc(["listen", "--route", "email.bouncd=3000"]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("Did you mean email.bounced?")]);
    expect((await beside.mailsvc(["listen"])).code).toBe(2);
    for (const url of ["http://", "ftp://127.0.0.1/x"])
      expect((await beside.mailsvc(["listen", "--forward-to", url])).stderr).toContain("is not an http URL");
  });

  test("the events of a webhook: those it gets, at the path of its URL, signed with its secret", async () => {
    await using real = await receiver();
    await using local = await receiver();
    const beside = await startCliWithServer();
    const { sdk, settle } = beside.world;
    const { id, secret } = await sdk.webhooks.create({ url: `${real.url}/mail?from=1`, events: ["email.delivered", "list.*"] });
    await sdk.webhooks.create({ url: real.url, events: ["email.sent"] });
    const server = new URL(local.url).host;
    const result = await listen(beside, ["--forward-to", server, "--webhook", id, "--secret", secret, "--count", "2"], async () => {
      await send(beside, "ada@example.com");
      await settle();
      const { id: list } = await sdk.lists.create({ name: "Readers" });
      await sdk.lists.add(list, { contacts: [(await sdk.contacts.create({ email: "ada@example.com" })).id] });
      await settle();
    });
    expect([result.code, result.lines[0]]).toMatchObject([
      0,
      { webhook: id, secret: null, forwardTo: [`http://${server}/webhook/mail?from=1`] },
    ]);
    expect(local.types()).toEqual(["email.delivered", "list.joined"]);
    const theirs = real.received.filter(({ event }) => event.type !== "email.sent");
    expect(local.received.map(({ body }) => body)).toEqual(theirs.map(({ body }) => body));
    for (const { body, headers } of local.received) await unwrap(body, headers, secret);
  });

  test("an event that an automation sends to a webhook is forwarded for that one only", () => {
    const [one, other] = ["whk_1", "whk_2"].map((id) => new RegisteredWebhook({ id, url: "https://a.example/", events: ["email.*"] }));
    const event = { type: "automation.webhook", body: JSON.stringify({ data: { webhookId: "whk_1" } }) } as ForwardedEvent;
    expect([one?.gets(event), other?.gets(event)]).toEqual([true, false]);
    expect(one?.filter).toBe("email.*,automation.webhook");
    expect(new RegisteredWebhook({ id: "whk_1", url: "https://a.example/", events: ["*"] }).filter).toBeUndefined();
  });

  test("where the events of a webhook go: a server gets the path of its URL, and a path is kept", () => {
    const webhook = new RegisteredWebhook({ id: "whk_1", url: "https://shop.example//evil.example/hooks?a=1", events: ["*"] });
    expect(webhook.locate("3000")).toBe("http://127.0.0.1:3000//evil.example/hooks?a=1");
    for (const kept of ["3000/", "3000/other", "http://localhost:3000/?a"]) expect(webhook.locate(kept)).toBe(kept);
  });

  test("of a webhook in another format, or one that is not there, nothing is forwarded", async () => {
    const beside = await startCliWithServer();
    const { id } = await beside.world.sdk.webhooks.create({ url: "https://a.example/", format: "resend" });
    const run = async (...argv: string[]) => {
      const { code, stderr } = await beside.mailsvc(["listen", "--forward-to", "3000", ...argv]);
      return [code, stderr];
    };
    expect(await run("--webhook", id)).toEqual([2, expect.stringContaining("has the format resend")]);
    expect((await run("--webhook", "whk_01jc3v2m9k8q4w6x0y5z7a1b2c"))[0]).toBe(6);
    expect(await run("--webhook", id, "--type", "email.sent")).toEqual([2, expect.stringContaining("it takes no --type")]);
    expect(await run("--webhook", id, "--agent", "writer")).toEqual([2, expect.stringContaining("it takes no --agent")]);
  });

  test("without its secret, the requests of a webhook are signed with one that is shown", async () => {
    await using local = await receiver();
    const beside = await startCliWithServer();
    const { id } = await beside.world.sdk.webhooks.create({ url: "https://a.example/hook" });
    const result = await listen(beside, ["--forward-to", local.url, "--webhook", id], async () => {}, { tty: TERMINAL });
    expect(result.stderr).toContain(`Forwarding events of ${id} to`);
    expect(result.stderr).toContain("The server does not reveal the webhook's secret");
  });

  test("events wait while nothing listens, and come in their order when something does", async () => {
    const beside = await startCliWithServer();
    const closed = await receiver();
    const { url } = closed;
    await closed[Symbol.asyncDispose]();
    let local: Receiver | undefined;
    const result = await listen(beside, ["--forward-to", url, "--count", "3"], async ({ until }) => {
      await send(beside, "ada@example.com");
      await until('"waiting"');
      local = await receiver(() => 200, Number(new URL(url).port));
    });
    expect(local?.types()).toEqual(["email.queued", "email.sent", "email.delivered"]);
    expect(result.lines.filter(({ kind }) => kind === "waiting")).toEqual([{ kind: "waiting", url }]);
    expect(result.code).toBe(0);
    await local?.[Symbol.asyncDispose]();
  });

  test("it ends when the reader of its output has left, also while nothing listens", async () => {
    await using local = await receiver();
    const absent = await receiver();
    await absent[Symbol.asyncDispose]();
    const beside = await startCliWithServer();
    await send(beside, "ada@example.com");
    await beside.world.settle();
    for (const target of [local.url, absent.url]) {
      const argv = ["listen", "--forward-to", target, "--from", "1"];
      const { code, lines } = await beside.mailsvc(argv, { reads: (all) => all === "" });
      expect([code, lines]).toMatchObject([0, [{ kind: "ready" }]]);
    }
  });

  test.each([
    ["http://app:secret@127.0.0.1:3000/", "has no user name or password"],
    ["0/webhook", "nothing can listen at port 0"],
  ])("a URL that no webhook has is refused: %s", async (target, why) => {
    const { mailsvc } = await startCliWithServer();
    const { code, stderr } = await mailsvc(["listen", "--forward-to", target]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
  });

  test("what is answered with an error is reported and not repeated: exit 11", async () => {
    await using local = await receiver(({ event }) => (event.type === "email.sent" ? 500 : 204));
    const beside = await startCliWithServer();
    const result = await listen(
      beside,
      ["--forward-to", local.url, "--count", "3"],
      async () => void (await send(beside, "ada@example.com")),
    );
    expect(result.code).toBe(11);
    expect(deliveriesOf(result).map(({ status, error }) => [status, error])).toEqual([
      [204, null],
      [500, "answered 500"],
      [204, null],
    ]);
  });

  test("a connection that is cut, as by sleep or a restart of the server, is made again without a gap", async () => {
    await using local = await receiver();
    const beside = await startCliWithServer();
    let cut = (): void => {};
    let streams = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const url = String(input instanceof Request ? input.url : input);
      if (!url.includes("/events/stream")) return beside.world.fetch(input, init);
      streams += 1;
      const connection = new AbortController();
      cut = () => connection.abort(new TypeError("terminated"));
      const response = await beside.world.fetch(input, init);
      const body = response.body?.pipeThrough(new TransformStream(), { signal: connection.signal });
      return new Response(body, response);
    };
    const result = await listen(
      beside,
      ["--forward-to", local.url, "--count", "9"],
      async ({ until }) => {
        await send(beside, "a@example.com");
        await until(/"sequence":3/);
        cut();
        // Meanwhile nobody listens.
        await send(beside, "b@example.com");
        await beside.world.settle();
        await until('"reconnecting"');
        await until(/"sequence":6/);
        await send(beside, "c@example.com");
      },
      { fetch },
    );
    expect(streams).toBeGreaterThan(1);
    expect(deliveriesOf(result).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test("started again, it says what it missed, and --resume or --from gets it", async () => {
    await using local = await receiver();
    const beside = await startCliWithServer();
    const home = folder();
    const first = await listen(
      beside,
      ["--forward-to", local.url, "--count", "3"],
      async () => void (await send(beside, "a@example.com")),
      { home },
    );
    expect(first.lines.some(({ kind }) => kind === "missed")).toBe(false);
    await send(beside, "b@example.com");
    await beside.world.settle();
    const second = await listen(
      beside,
      ["--forward-to", local.url, "--type", "email.queued", "--count", "1"],
      async () => void (await send(beside, "c@example.com")),
      {
        home,
      },
    );
    expect(second.lines[1]).toEqual({ kind: "missed", total: 1, since: 4 });
    expect(deliveriesOf(second)).toMatchObject([{ sequence: 7 }]);
    local.received.length = 0;
    await beside.world.settle();
    const third = await listen(beside, ["--forward-to", local.url, "--resume", "--count", "2"], async () => {}, { home });
    expect(deliveriesOf(third).map(({ sequence }) => sequence)).toEqual([8, 9]);
    const again = await listen(beside, ["--forward-to", local.url, "--from", "4", "--count", "2"], async () => {}, { home });
    expect(deliveriesOf(again).map(({ sequence }) => sequence)).toEqual([4, 5]);
  });

  test("at a terminal events are lines, and r repeats the last one under its id", async () => {
    await using local = await receiver();
    const beside = await startCliWithServer();
    const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => keys }) as unknown as PassThrough & In;
    const result = await listen(
      beside,
      ["--forward-to", local.url, "--type", "email.queued"],
      async ({ until }) => {
        keys.write("r");
        await until("no event to repeat");
        await send(beside, "ada@example.com");
        await until("email.queued");
        keys.write("r");
        await until("attempt 2");
        keys.write("\u0003");
      },
      { input: keys, tty: TERMINAL, env: { NO_COLOR: "1" } },
    );
    expect(result.stdout).toMatch(/^00:00:00 #1 email\.queued {2}evt_\w+ {2}200 in \d+ ms\n00:00:00 #1 email\.queued .*, attempt 2\n$/);
    expect(local.received.map(({ headers }) => [headers["webhook-id"], headers["x-service-attempt"]])).toEqual([
      [local.received[0]?.event.id, "1"],
      [local.received[0]?.event.id, "2"],
    ]);
  });
});
