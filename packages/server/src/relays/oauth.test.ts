import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { text } from "node:stream/consumers";
import { Mailsvc } from "@mailsvc/sdk";
import type { NewRelay } from "@mailsvc/sdk/contract";
import { SMTPServer } from "smtp-server";
import { expect, test } from "vitest";
import { AccessTokens, type PostForm } from "../mail/access-tokens.ts";
import { createWorld } from "../testing.ts";
import { RelayTokenStore } from "./token-store.ts";

/** A token server: the n-th request gets the token `token-n`. */
async function tokenServer() {
  const forms: Record<string, string>[] = [];
  const server = createServer(async (request, response) => {
    forms.push(Object.fromEntries(new URLSearchParams(await text(request))));
    response.setHeader("content-type", "application/json").end(JSON.stringify({ access_token: `token-${forms.length}`, expires_in: 3599 }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  return { url, forms, close: () => new Promise((done) => server.close(done)) };
}

/**
 * A mail server that takes XOAUTH2 as Microsoft 365 or Google do. Microsoft refuses a token with 535 at once; Google sends the reason as a
 * challenge first, and 535 after the empty line that answers it.
 */
async function xoauth2Server(dialect: "microsoft" | "google", accepts: (user: string, token: string) => boolean) {
  const log: string[] = [];
  let messages = 0;
  const refusal =
    dialect === "microsoft"
      ? "535 5.7.3 Authentication unsuccessful"
      : "535-5.7.8 Username and Password not accepted.\r\n535 5.7.8 see support.google.com";
  const server = createTcpServer((socket) => {
    let challenged = false;
    let inData = false;
    socket.on("error", () => {});
    const say = (line: string) => void socket.write(`${line}\r\n`);
    say("220 ready");
    socket.on("data", (chunk) => {
      for (const line of String(chunk).split("\r\n")) {
        if (inData) {
          if (line !== ".") continue;
          inData = false;
          messages += 1;
          say("250 2.0.0 ok");
        } else if (line.startsWith("EHLO")) say("250-mail\r\n250 AUTH LOGIN XOAUTH2");
        else if (line.startsWith("AUTH XOAUTH2 ")) {
          const [user = "", bearer = ""] = Buffer.from(line.slice(13), "base64").toString().split(String.fromCharCode(1));
          const token = bearer.replace("auth=Bearer ", "");
          const ok = accepts(user, token);
          log.push(`${user.replace("user=", "")} ${token} ${ok ? "in" : "refused"}`);
          if (ok) say("235 2.7.0 Accepted");
          else if (dialect === "microsoft") say(refusal);
          else {
            challenged = true;
            say(`334 ${Buffer.from('{"status":"400","schemes":"Bearer"}').toString("base64")}`);
          }
        } else if (challenged && line === "") {
          challenged = false;
          say(refusal);
        } else if (line.startsWith("DATA")) {
          inData = true;
          say("354 go on");
        } else if (line.startsWith("QUIT")) socket.end("221 bye\r\n");
        else if (line !== "") say("250 ok");
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    log,
    get messages() {
      return messages;
    },
    close: () => new Promise((done) => server.close(done)),
  };
}

const DIALECTS = {
  microsoft: { oauth: "microsoft", tenant: "t-1", clientId: "app", clientSecret: "s3cret-of-the-app" },
  google: { oauth: "google", clientId: "app", clientSecret: "s3cret-of-the-app", refreshToken: "r3fresh-token" },
} as const;
const GRANTS = {
  microsoft: { grant_type: "client_credentials", scope: "https://outlook.office365.com/.default" },
  google: { grant_type: "refresh_token", refresh_token: "r3fresh-token" },
} as const;

const setUp = async (dialect: "microsoft" | "google", accepts: (user: string, token: string) => boolean) => {
  const [tokens, mail, world] = await Promise.all([tokenServer(), xoauth2Server(dialect, accepts), createWorld()]);
  const operator = new Mailsvc({ apiKey: world.operatorKey, baseUrl: world.url, fetch: world.fetch });
  const relay: NewRelay = {
    name: "default",
    host: "127.0.0.1",
    port: mail.port,
    user: "news@acme.test",
    tokenUrl: tokens.url,
    ...DIALECTS[dialect],
  };
  const added = await operator.relays.add(relay);
  return {
    ...{ tokens, mail, world, operator, added },
    [Symbol.asyncDispose]: async () => {
      await world.dispose();
      await Promise.all([tokens.close(), mail.close()]);
    },
  };
};
const hello = { from: "hello@acme.test", to: "ada@example.com", subject: "Hello", text: "It works." };

test.each(["microsoft", "google"] as const)("%s: a relay logs in with an access token, which it keeps", async (dialect) => {
  await using t = await setUp(dialect, () => true);
  for (let n = 0; n < 3; n += 1) await t.world.sdk.emails.send(hello);
  await t.world.settle();
  expect(t.mail.messages).toBe(3);
  expect(new Set(t.mail.log)).toEqual(new Set(["news@acme.test token-1 in"]));
  expect(t.tokens.forms).toMatchObject([{ ...GRANTS[dialect], client_id: "app", client_secret: "s3cret-of-the-app" }]);
});

test.each(["microsoft", "google"] as const)("%s: a token that is refused is renewed once, and the mail leaves", async (dialect) => {
  await using t = await setUp(dialect, (_user, token) => token !== "token-1");
  const sent = await t.world.sdk.emails.send(hello);
  await t.world.settle();
  expect(await t.world.sdk.emails.get((sent as { id: string }).id)).toMatchObject({ status: "sent", attempts: 1 });
  expect(t.mail.log).toEqual(["news@acme.test token-1 refused", "news@acme.test token-2 in"]);
});

test.each(["microsoft", "google"] as const)(
  "%s: a second refusal defers the mail, names relay and next command, and no token or secret is shown",
  async (dialect) => {
    await using t = await setUp(dialect, () => false);
    const sent = await t.world.sdk.emails.send(hello);
    await t.world.settle();
    const email = await t.world.sdk.emails.get((sent as { id: string }).id);
    expect(email).toMatchObject({ status: "deferred", lastError: { smtpCode: 535 } });
    expect(t.mail.log).toHaveLength(2);
    const { mailerFault } = (await t.world.sdk.me.get()).server;
    expect(mailerFault).toMatch(/^The relay default is out of service: .*535.* Next: mailsvc relays test default$/);
    const tested = await t.operator.relays.test("default", {});
    expect(tested).toMatchObject({ ok: false, relay: "default" });
    expect(tested.steps.map(({ step, ok }) => [step, ok])).toEqual([
      ["resolve", true],
      ["connect", true],
      ["token", true],
      ["greet", true],
      ["login", false],
    ]);
    expect(tested.steps.at(-1)?.hint).toContain("docs/relays.md");
    const shown = JSON.stringify([t.added, email, mailerFault, tested, await t.operator.relays.list()]);
    expect(shown).not.toMatch(/token-\d|s3cret|r3fresh|dXNlcj/);
  },
);

test.each(["microsoft", "google"] as const)(
  "%s: a check by any key logs in with an access token, and says when that is refused",
  async (dialect) => {
    await using t = await setUp(dialect, () => true);
    expect(await t.world.sdk.me.checkRelays()).toMatchObject({ ok: true, data: [{ name: "default", ok: true, reason: null }] });
    expect(t.mail.log).toEqual(["news@acme.test token-1 in"]);
    expect(t.mail.messages).toBe(0);
    // Another check so soon connects no second time.
    await t.world.sdk.me.checkRelays();
    expect(t.mail.log).toHaveLength(1);
    await using refused = await setUp(dialect, () => false);
    expect(await refused.world.sdk.me.checkRelays()).toMatchObject({
      ok: false,
      data: [{ ok: false, reason: expect.stringContaining("535") }],
    });
    expect(await refused.operator.relays.test("default", {})).toMatchObject({ ok: false });
  },
);

test("a test names the token server's reason and the command that corrects it", async () => {
  await using t = await setUp("microsoft", () => true);
  const refusing = createServer((_request, response) =>
    response.writeHead(401).end('{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret"}'),
  );
  refusing.listen(0, "127.0.0.1");
  await once(refusing, "listening");
  await t.operator.relays.update("default", { tokenUrl: `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/` });
  const { ok, steps } = await t.operator.relays.test("default", {});
  refusing.close();
  expect(ok).toBe(false);
  expect(steps.at(-1)).toMatchObject({
    step: "token",
    detail: expect.stringContaining("AADSTS7000215"),
    hint: expect.stringContaining("mailsvc relays update default --client-id"),
  });
});

test.each([
  ["microsoft", "allow client credentials for it there"],
  ["google", "mailsvc relays update default --refresh-token"],
] as const)("a test of a relay of %s advises on the grant that it uses", async (dialect, advice) => {
  await using t = await setUp(dialect, () => true);
  const refusing = createServer((_request, response) => response.writeHead(400).end('{"error":"invalid_grant"}'));
  refusing.listen(0, "127.0.0.1");
  await once(refusing, "listening");
  await t.operator.relays.update("default", { tokenUrl: `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/` });
  const { steps } = await t.operator.relays.test("default", {});
  refusing.close();
  expect(steps.at(-1)).toMatchObject({ step: "token", ok: false, hint: expect.stringContaining(advice) });
});

test("a wrong password names the relay and the next command", async () => {
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(new Error("Wrong password")),
  });
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  await using world = await createWorld();
  const operator = new Mailsvc({ apiKey: world.operatorKey, baseUrl: world.url, fetch: world.fetch });
  await operator.relays.add({
    name: "default",
    host: "127.0.0.1",
    port: (server.server.address() as AddressInfo).port,
    user: "u",
    password: "hunter-2",
  });
  await world.sdk.emails.send(hello);
  await world.settle();
  expect((await world.sdk.me.get()).server.mailerFault).toMatch(
    /^The relay default is out of service: .* Next: mailsvc relays test default$/,
  );
  const tested = await operator.relays.test("default", {});
  expect(tested.steps.at(-1)).toMatchObject({
    step: "login",
    ok: false,
    hint: expect.stringContaining("mailsvc relays update default --user"),
  });
  expect(JSON.stringify([tested, await operator.relays.list()])).not.toContain("hunter-2");
  await operator.relays.update("default", { user: null, password: null });
  expect(await operator.relays.test("default", {})).toMatchObject({ ok: true });
  await world.dispose();
  await new Promise((done) => server.close(() => done(null)));
});

test("two servers that share a database use no refresh token twice", async () => {
  await using world = await createWorld();
  const { db, seal, clock } = world.app.deps;
  let current = "r0";
  let asked = 0;
  let revoked = false;
  // A token server that takes everything back when a refresh token is used again (RFC 9700 4.14).
  const postForm: PostForm = async (_url, form) => {
    asked += 1;
    if (revoked || form.get("refresh_token") !== current) {
      revoked = true;
      return { status: 400, text: '{"error":"invalid_grant"}' };
    }
    current = `r${asked}`;
    const token = `t${asked}`;
    await clock.real.sleep(20);
    return { status: 200, text: JSON.stringify({ access_token: token, expires_in: 3600, refresh_token: current }) };
  };
  const request = { tokenUrl: "https://login.example.com/token", clientId: "app", clientSecret: null, refreshToken: "r0", scope: null };
  const start = (refreshToken = "r0") => {
    const store = new RelayTokenStore({ db: () => db, seal, clock, relay: "default", refreshToken });
    return new AccessTokens({ request: { ...request, refreshToken }, postForm, real: clock.real, store });
  };
  const [one, other] = [start(), start()];
  for (let n = 1; n <= 4; n += 1) {
    const refused = n === 1 ? undefined : `t${n - 1}`;
    expect(await Promise.all([one.get(refused), other.get(refused)])).toEqual([`t${n}`, `t${n}`]);
  }
  expect(asked).toBe(4);
  expect(await start().get()).toBe("t4");
  const { relayTokens: t } = db.read.t;
  expect(JSON.stringify(await db.read.select().from(t))).not.toContain("t4");
  // A relay that is set up with another refresh token begins with that one.
  current = "fresh";
  expect(await start("fresh").get()).toBe("t5");
});
