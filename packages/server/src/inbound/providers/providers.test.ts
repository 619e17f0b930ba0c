import { PROVIDERS, type Provider } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { KEYS, start, TO } from "../../../test/connected-providers.ts";
import {
  authorizePostmark,
  CERTIFICATE_URL,
  MAILGUN_KEY,
  makeSendgridKeys,
  signMailgun,
  signSendgrid,
  signSns,
} from "../../../test/provider-webhooks.ts";
import { realTime } from "../../lib/clock.ts";
import { ControllableClock } from "../../lib/controllable-clock.ts";
import { HOUR } from "../../lib/units.ts";

describe("a report that knows a mail to several recipients by its Message-ID", () => {
  const delivered: readonly [Provider, (mail: string, to: string | undefined) => { body: string; headers?: Record<string, string> }][] = [
    [
      "ses",
      (value, to) => ({
        body: signSns({ eventType: "Delivery", mail: { headers: [{ name: "Message-ID", value }], ...(to && { destination: [to] }) } }),
      }),
    ],
    [
      "mailgun",
      (messageId, recipient) => ({
        body: signMailgun(
          { event: "delivered", recipient, message: { headers: { "message-id": messageId } } },
          Math.floor(realTime.date() / 1000),
        ),
      }),
    ],
    [
      "sendgrid",
      (messageId, email) => {
        const body = JSON.stringify([{ event: "delivered", email, "smtp-id": messageId }]);
        return { body, headers: signSendgrid(body) };
      },
    ],
  ];

  test.each(delivered)("concerns the recipient it names, and without one nobody (%s)", async (provider, build) => {
    const { world, post } = await start();
    await using _ = world;
    const mail = { from: "a@acme.test", subject: "Hi", text: "Hi" };
    const { id } = await world.sdk.emails.send({ ...mail, to: TO, cc: "bob@example.com", bcc: "carol@example.com" });
    await world.settle();
    const statuses = async () => (await world.sdk.emails.get(id)).recipients.map(({ status }) => status);
    for (const [to, applied] of [
      [undefined, 0],
      ["eve@example.com", 0],
      ["Bob@example.com", 1],
      ["carol@example.com", 1],
    ] as const) {
      const { body, headers } = build(`<${id}@acme.test>`, to);
      expect((await post(provider, body, headers)).body, String(to)).toMatchObject({ applied });
    }
    expect(await statuses()).toEqual(["sent", "delivered", "delivered"]);
  });
});

describe("Amazon SES", () => {
  const bounce = (source: string, bounceType = "Permanent", bounceSubType = "General") => ({
    notificationType: "Bounce",
    bounce: {
      bounceType,
      bounceSubType,
      feedbackId: `0100-${bounceType}`,
      bouncedRecipients: [{ emailAddress: TO, action: "failed", status: "5.1.1", diagnosticCode: "smtp; 550 5.1.1 user unknown" }],
    },
    mail: { source, messageId: "0100019-ses", destination: [TO] },
  });

  test.each(["1", "2"])("a bounce by the return path, signed in version %s, suppresses the address once", async (version) => {
    const { world, send, post, last, fetched } = await start();
    await using _ = world;
    const { id, returnPath } = await send();
    const body = signSns(bounce(returnPath), {}, version);
    expect(await post("ses", body)).toEqual({ status: 200, body: { received: true, applied: 1 } });
    expect(await post("ses", body)).toEqual({ status: 200, body: { received: true, applied: 0 } });
    expect(await last(id)).toMatchObject({
      status: "bounced",
      event: "email.bounced",
      data: { type: "PERMANENT", enhancedCode: "5.1.1", source: "ses" },
    });
    expect(await world.sdk.suppressions.get(TO)).toMatchObject({ reason: "bounce" });
    expect(fetched).toEqual([CERTIFICATE_URL]);
  });

  test("complaints, deliveries and delays, by the Message-ID among the headers", async () => {
    const { world, send, post, last } = await start();
    await using _ = world;
    const { id, messageId } = await send();
    const mail = { source: "a@acme.test", headers: [{ name: "Message-ID", value: messageId }] };
    await post(
      "ses",
      signSns({
        eventType: "DeliveryDelay",
        mail,
        deliveryDelay: { delayType: "MailboxFull", delayedRecipients: [{ status: "4.2.2", diagnosticCode: "smtp; 452 4.2.2 full" }] },
      }),
    );
    expect(await last(id)).toMatchObject({ status: "sent", event: "email.deferred" });
    await post("ses", signSns({ eventType: "Delivery", mail }));
    expect(await last(id)).toMatchObject({ status: "delivered", event: "email.delivered" });
    await post("ses", signSns({ notificationType: "Complaint", mail, complaint: { feedbackId: "f", complaintFeedbackType: "abuse" } }));
    expect(await last(id)).toMatchObject({ status: "complained", data: { feedbackType: "abuse" } });
  });

  test("a transient bounce, or one for the content, suppresses nobody", async () => {
    const { world, send, post, last } = await start();
    await using _ = world;
    for (const [type, subType] of [
      ["Transient", "MailboxFull"],
      ["Permanent", "ContentRejected"],
    ]) {
      const { id, returnPath } = await send();
      await post("ses", signSns(bounce(returnPath, type, subType)));
      expect(await last(id)).toMatchObject({ status: "bounced", data: { type: type?.toUpperCase() } });
    }
    expect((await world.sdk.suppressions.list()).pagination.total).toBe(0);
  });

  test("forged messages that name ever new certificates cost few requests to Amazon, and the true one is still accepted", async () => {
    const { world, send, post, fetched } = await start();
    await using _ = world;
    const { returnPath } = await send();
    const body = signSns(bounce(returnPath));
    const naming = (name: string) => body.replace(/SimpleNotificationService-1\.pem/, name);
    expect((await post("ses", signSns({}))).status).toBe(200);
    for (const name of ["SimpleNotificationService-1.pem?x", "a/SimpleNotificationService-1.pem", "x.pem"])
      expect((await post("ses", naming(name.replace("?x", "%3Fx")))).body.error?.code).toBe("invalid_signature");
    expect(fetched).toHaveLength(1);
    const answers = [];
    for (let i = 0; i < 40; i += 1) answers.push((await post("ses", naming(`SimpleNotificationService-f${i}.pem`))).body.error?.code);
    expect(new Set(answers)).toEqual(new Set(["invalid_signature", "not_ready"]));
    expect(fetched.length).toBeLessThanOrEqual(25);
    expect((await post("ses", body)).body).toMatchObject({ applied: 1 });
    const asked = fetched.length;
    await Promise.all(Array.from({ length: 5 }, () => post("ses", body)));
    expect(fetched).toHaveLength(asked);
  });

  test("a subscription is confirmed, at Amazon only", async () => {
    const { world, post, fetched } = await start();
    await using _ = world;
    const confirm = (SubscribeURL: string) =>
      signSns("You have chosen to subscribe", { Type: "SubscriptionConfirmation", Token: "t", SubscribeURL });
    const url = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=t";
    expect((await post("ses", confirm(url))).status).toBe(200);
    expect(fetched).toEqual([CERTIFICATE_URL, url]);
    for (const evil of ["https://evil.example/", "http://sns.eu-west-1.amazonaws.com/", "https://169.254.169.254/"]) {
      expect((await post("ses", confirm(evil))).body.error?.code).toBe("invalid_signature");
      expect(fetched).not.toContain(evil);
    }
  });

  test.each([
    ["another topic", { TopicArn: "arn:aws:sns:eu-west-1:666666666666:bounces" }],
    ["a certificate from elsewhere", { SigningCertURL: "https://evil.example/a.pem" }],
    ["a certificate from a host that looks like Amazon's", { SigningCertURL: "https://sns.eu-west-1.amazonaws.com.evil.example/a.pem" }],
    ["a certificate from a bucket", { SigningCertURL: "https://sns.s3.amazonaws.com/a.pem" }],
    ["a certificate behind a user name", { SigningCertURL: "https://sns.eu-west-1.amazonaws.com@evil.example/a.pem" }],
    ["a certificate with a query", { SigningCertURL: `${CERTIFICATE_URL}?a=1` }],
    ["another port", { SigningCertURL: "https://sns.eu-west-1.amazonaws.com:8443/a.pem" }],
    ["a certificate of another region", { SigningCertURL: "https://sns.us-east-1.amazonaws.com/a.pem" }],
    ["no certificate", { SigningCertURL: "https://sns.eu-west-1.amazonaws.com/x.pem" }],
    ["an unknown version", { SignatureVersion: "3" }],
    ["a wrong signature", { Signature: "AAAA" }],
    ["no signature", { Signature: "=" }],
  ])("%s is refused", async (_name, change) => {
    const { world, send, post, last, fetched } = await start();
    await using _ = world;
    const { id, returnPath } = await send();
    const body = JSON.stringify({ ...(JSON.parse(signSns(bounce(returnPath))) as object), ...change });
    expect(await post("ses", body)).toMatchObject({ status: 401, body: { error: { code: "invalid_signature" } } });
    expect((await last(id)).status).toBe("sent");
    expect(fetched.filter((url) => !/^https:\/\/sns\.[a-z0-9-]+\.amazonaws\.com\//.test(url))).toEqual([]);
  });

  test("what came too early, or while Amazon cannot be reached, is to be sent again", async () => {
    const { world, send, post } = await start({ fetchText: () => Promise.reject(new Error("network")) });
    await using _ = world;
    const { returnPath } = await send();
    expect(await post("ses", signSns(bounce(returnPath)))).toMatchObject({ status: 503, body: { error: { code: "not_ready" } } });
    const { id } = (await world.sdk.emails.send({
      from: "a@acme.test",
      to: TO,
      subject: "Hi",
      text: "Hi",
      scheduledAt: "2026-01-02T00:00:00Z",
    })) as { id: string };
    const early = { RecordType: "Bounce", ID: 1, Type: "HardBounce", Metadata: { "mailsvc-id": id } };
    expect((await post("postmark", JSON.stringify(early), authorizePostmark())).status).toBe(503);
    expect((await world.sdk.suppressions.list()).pagination.total).toBe(0);
  });

  test("an altered message is refused, and a test message of SNS is none of ours", async () => {
    const { world, send, post, last } = await start();
    await using _ = world;
    const { id, returnPath } = await send();
    expect((await post("ses", signSns(bounce("x")).replace('\\"source\\":\\"x\\"', `\\"source\\":\\"${returnPath}\\"`))).status).toBe(401);
    expect(await post("ses", signSns("Successfully validated SNS topic"))).toMatchObject({ status: 200, body: { applied: 0 } });
    expect((await last(id)).status).toBe("sent");
  });
});

describe("Postmark", () => {
  test("a bounce and a complaint are matched by the metadata that our mail carries", async () => {
    const { world, send, post, last } = await start();
    await using _ = world;
    const { id, headers } = await send();
    expect(headers["X-PM-Metadata-mailsvc-id"]).toBe(id);
    const bounce = {
      RecordType: "Bounce",
      ID: 42,
      Type: "HardBounce",
      TypeCode: 1,
      Details: "smtp;550 5.1.1 The email account does not exist",
      Metadata: { "mailsvc-id": id },
    };
    expect(await post("postmark", JSON.stringify(bounce), authorizePostmark())).toEqual({
      status: 200,
      body: { received: true, applied: 1 },
    });
    expect(await last(id)).toMatchObject({ status: "bounced", data: { type: "PERMANENT", smtpCode: 550, enhancedCode: "5.1.1" } });
    const other = await send("grace@example.com");
    const complaint = { RecordType: "SpamComplaint", ID: 43, Metadata: { "mailsvc-id": other.id } };
    await post("postmark", JSON.stringify(complaint), authorizePostmark());
    expect((await last(other.id)).status).toBe("complained");
    const third = await send("alan@example.com");
    for (const Type of ["AutoResponder", "Subscribe"])
      expect(
        (await post("postmark", JSON.stringify({ ...bounce, ID: 44, Type, Metadata: { "mailsvc-id": third.id } }), authorizePostmark()))
          .body.applied,
      ).toBe(0);
    await post(
      "postmark",
      JSON.stringify({ ...bounce, ID: 45, Type: "SoftBounce", Metadata: { "mailsvc-id": third.id } }),
      authorizePostmark(),
    );
    expect(await last(third.id)).toMatchObject({ status: "bounced", data: { type: "TRANSIENT" } });
    await expect(world.sdk.suppressions.get("alan@example.com")).rejects.toMatchObject({ code: "not_found" });
  });

  test("another password is refused", async () => {
    const { world, post } = await start();
    await using _ = world;
    for (const given of ["", "Basic ", `Basic ${Buffer.from("hook:wrong").toString("base64")}`, "Bearer x"])
      expect((await post("postmark", "{}", { authorization: given })).status).toBe(401);
  });
});

describe("SendGrid", () => {
  test("a batch of events, by the Message-ID", async () => {
    const { world, send, post, last } = await start();
    await using _ = world;
    const mails: Awaited<ReturnType<typeof send>>[] = [];
    for (const to of ["1", "2", "3", "4"].map((n) => `${n}@example.com`)) mails.push(await send(to));
    const of = (i: number, event: string, more: object) => ({
      "smtp-id": mails[i]?.messageId,
      sg_event_id: `e${i}`,
      event,
      email: "x",
      ...more,
    });
    const body = JSON.stringify([
      of(0, "bounce", { type: "bounce", status: "5.1.1", reason: "550 5.1.1 user unknown" }),
      of(1, "bounce", { type: "blocked", status: "5.7.1", reason: "550 5.7.1 blocked using a list" }),
      of(2, "spamreport", {}),
      of(3, "delivered", { response: "250 OK" }),
      { event: "open", "smtp-id": mails[3]?.messageId },
      { event: "bounce", "smtp-id": "<elsewhere@example.org>" },
      "nonsense",
      null,
    ]);
    expect(await post("sendgrid", body, signSendgrid(body))).toEqual({ status: 200, body: { received: true, applied: 4 } });
    expect((await post("sendgrid", body, signSendgrid(body))).body.applied).toBe(0);
    expect(await Promise.all(mails.map(async ({ id }) => (await last(id)).status))).toEqual([
      "bounced",
      "bounced",
      "complained",
      "delivered",
    ]);
    expect((await world.sdk.suppressions.list()).data.map(({ email }) => email).sort()).toEqual(["1@example.com", "3@example.com"]);
  });

  test("another key, a changed body or no signature is refused", async () => {
    const { world, post } = await start();
    await using _ = world;
    const other = makeSendgridKeys().privateKey;
    expect((await post("sendgrid", "[]", signSendgrid("[]", other))).status).toBe(401);
    expect((await post("sendgrid", "[ ]", signSendgrid("[]"))).status).toBe(401);
    expect((await post("sendgrid", "[]")).status).toBe(401);
    expect((await post("sendgrid", "[]", { ...signSendgrid("[]"), "x-twilio-email-event-webhook-signature": "AAAA" })).status).toBe(401);
  });
});

describe("Mailgun", () => {
  const now = Math.floor(Date.now() / 1000);

  test("its timestamps are judged by the real time, also after a developer has moved the clock by a month", async () => {
    const { world, post } = await start();
    await using _ = world;
    await world.clock.advance("30d");
    const moved = Math.floor(world.clock.now() / 1000);
    expect((await post("mailgun", signMailgun({ event: "delivered" }, now))).status).toBe(200);
    expect((await post("mailgun", signMailgun({ event: "delivered" }, moved))).status).toBe(401);
  });

  test("failures, complaints and deliveries, by the Message-ID without brackets", async () => {
    const { world, send, post, last } = await start();
    await using _ = world;
    const { id, messageId } = await send();
    const event = (more: object) => ({ message: { headers: { "message-id": messageId.slice(1, -1) } }, ...more });
    const status = { code: 452, message: "4.2.2 mailbox full", "enhanced-code": "4.2.2" };
    await post("mailgun", signMailgun(event({ id: "1", event: "failed", severity: "temporary", "delivery-status": status }), now));
    expect(await last(id)).toMatchObject({ status: "sent", event: "email.deferred", data: { smtpCode: 452, enhancedCode: "4.2.2" } });
    await post("mailgun", signMailgun(event({ id: "2", event: "delivered" }), now));
    expect((await last(id)).status).toBe("delivered");
    await post(
      "mailgun",
      signMailgun(
        event({
          id: "3",
          event: "failed",
          severity: "permanent",
          "delivery-status": { code: 605, message: "Not delivering to previously bounced address" },
        }),
        now,
      ),
    );
    expect((await last(id)).status).toBe("bounced");
    expect(await world.sdk.suppressions.get(TO)).toMatchObject({ reason: "bounce" });
  });

  test("a captured signature is worth nothing with another event, and repeats of the first are accepted", async () => {
    const { world, send, post, last } = await start();
    await using _ = world;
    const [one, two] = [await send(), await send("grace@example.com")];
    const event = ({ messageId }: { messageId: string }, more: object) => ({
      message: { headers: { "message-id": messageId.slice(1, -1) } },
      ...more,
    });
    const token = "t".repeat(50);
    // An event that says nothing about a delivery uses its token up as well.
    expect((await post("mailgun", signMailgun(event(one, { id: "1", event: "opened" }), now, MAILGUN_KEY, token))).status).toBe(200);
    const forged = signMailgun(event(two, { id: "2", event: "complained" }), now, MAILGUN_KEY, token);
    for (const body of [forged, forged.replace('"id":"2"', '"id":"1"')])
      expect(await post("mailgun", body)).toMatchObject({ status: 401, body: { error: { code: "invalid_signature" } } });
    expect((await last(two.id)).status).toBe("sent");
    for (let i = 0; i < 2; i += 1)
      expect((await post("mailgun", signMailgun(event(one, { id: "1", event: "opened" }), now, MAILGUN_KEY, token))).status).toBe(200);
  });

  test("tokens are remembered for as long as their signatures are accepted, and not for ever", async () => {
    let date = Date.now();
    const real = { ...realTime, date: () => date };
    class DatedClock extends ControllableClock {
      override readonly real = real;
    }
    const { world, post } = await start({ clock: DatedClock });
    await using _ = world;
    const { read } = world.app.deps.db;
    const at = () => Math.floor(date / 1000);
    const first = at();
    const body = (id: string, timestamp: number) => signMailgun({ id, event: "opened" }, timestamp, MAILGUN_KEY, "t".repeat(50));
    expect((await post("mailgun", body("1", first))).status).toBe(200);
    date += 23 * HOUR;
    expect((await post("mailgun", body("2", first))).status).toBe(401);
    date += 49 * HOUR;
    expect((await post("mailgun", body("3", at()))).status).toBe(200);
    expect(await read.select().from(read.t.inboundReports)).toHaveLength(2);
  });

  test.each([
    ["another key", signMailgun({ event: "delivered" }, now, "other")],
    ["two days old", signMailgun({ event: "delivered" }, now - 2 * 86_400)],
    ["from the future", signMailgun({ event: "delivered" }, now + 3600)],
    ["a timestamp that is none", signMailgun({ event: "delivered" }, Number.NaN)],
  ])("%s is refused", async (_name, body) => {
    const { world, post } = await start();
    await using _ = world;
    expect((await post("mailgun", body)).status).toBe(401);
  });
});

describe("every provider", () => {
  test("has a key and a reader that are tested here", () => {
    expect(Object.keys(KEYS)).toEqual(Object.keys(PROVIDERS));
  });

  test.each(Object.keys(PROVIDERS))("%s answers nonsense with a 4xx", async (provider) => {
    const { world, post } = await start();
    await using _ = world;
    for (const body of ["", "{", "null", "[]", '"x"', "{}", '{"Type":1}', '{"signature":{}}', "\u0000", "[".repeat(10_000)]) {
      const { status } = await post(provider, body, authorizePostmark());
      expect([provider, body.slice(0, 20), status >= 400 && status < 500]).toEqual([provider, body.slice(0, 20), true]);
    }
  });
});

test("of 1,000 forged webhooks none is recorded; after 600 in a minute their address has to wait", async () => {
  const { world, post } = await start();
  await using _ = world;
  const { read } = world.app.deps.db;
  const count = async () => (await read.select().from(read.t.events)).length + (await read.select().from(read.t.inboundReports)).length;
  const before = await count();
  const forgeries: readonly [provider: string, body: string, headers: Record<string, string>][] = [
    ["ses", signSns({ a: 1 }).replace(/"Signature":"./, '"Signature":"-'), {}],
    ["postmark", "{}", authorizePostmark("hook:wrong")],
    ["sendgrid", "[]", signSendgrid("[1]")],
    ["mailgun", signMailgun({ event: "failed" }, 1_767_225_600, "another-key"), {}],
    [`connections/${"0".repeat(48)}`, "{}", {}],
  ];
  const statuses = new Map<number, number>();
  for (let i = 0; i < 1000; i += 1) {
    const [provider, body, headers] = forgeries[i % forgeries.length] as (typeof forgeries)[number];
    const { status } = await post(provider, body, headers);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect([...statuses.keys()].sort()).toEqual([401, 404, 429]);
  expect((statuses.get(401) ?? 0) + (statuses.get(404) ?? 0)).toBeGreaterThanOrEqual(600);
  expect(await count()).toBe(before);
});
