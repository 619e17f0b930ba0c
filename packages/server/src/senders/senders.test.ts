import { PERMISSIONS } from "@mailsvc/sdk/contract";
import { describe, expect, test, vi } from "vitest";
import { acceptingMailer } from "../../test/accepting-mailer.ts";
import { ask } from "../../test/scenario.ts";
import { noSuchUser, scriptedMailer } from "../../test/scripted-mailer.ts";
import { keyFor } from "../../test/tenant.ts";
import { readConfig } from "../config.ts";
import type { DomainRecords } from "../lib/domain-records.ts";
import { createWorld, type TestWorld, type WorldOptions } from "../testing.ts";
import { trustSenders } from "./senders.ts";

const production = (options: WorldOptions = {}) => createWorld({ dev: false, ...options });
const mail = { to: "ada@example.com", subject: "Hello", text: "x" };
const sendFrom = (world: TestWorld, from: string) => ask(world, { path: "/api/v1/send", body: { ...mail, from } });
const page = (world: TestWorld, method: string, link: string) => ask(world, { method, path: new URL(link).pathname, key: null });

/** A domain name system with the records of the test. */
const fakeDns = (): Pick<DomainRecords, "txt"> & { records: Map<string, string[]>; asked: string[]; broken: boolean } => {
  const dns = {
    records: new Map<string, string[]>(),
    asked: [] as string[],
    broken: false,
    txt: async (name: string) => {
      dns.asked.push(name);
      if (dns.broken) throw Object.assign(new Error("no answer"), { code: "ESERVFAIL" });
      return dns.records.get(name) ?? [];
    },
  };
  return dns;
};

describe("in dev mode", () => {
  test("a new sender is verified at once, and reserved domains need not be added", async () => {
    await using world = await createWorld();
    expect((await sendFrom(world, "hi@acme.com")).status).toBe(400);
    expect(await world.sdk.senders.create({ email: "Hi@Acme.com" })).toMatchObject({
      kind: "address",
      value: "hi@acme.com",
      status: "VERIFIED",
      dnsRecord: null,
    });
    expect((await sendFrom(world, "Acme <HI@acme.com>")).status).toBe(200);
    expect((await sendFrom(world, "other@acme.com")).status).toBe(400);
    for (const from of ["a@x.test", "a@y.example", "a@test", "a@deep.sub.example"])
      expect((await sendFrom(world, from)).status).toBe(from === "a@test" ? 400 : 200);
    for (const from of ["a@example.com", "a@mytest", "a@nottest.com", "a@example.org"])
      expect((await sendFrom(world, from)).status).toBe(400);
  });

  test("a domain covers all its addresses and none of its subdomains", async () => {
    await using world = await createWorld();
    await world.sdk.senders.create({ domain: "BÜCHER.com" });
    expect((await sendFrom(world, "x@bücher.com")).status).toBe(200);
    expect((await sendFrom(world, "x@xn--bcher-kva.com")).status).toBe(200);
    expect((await sendFrom(world, "x@mail.bücher.com")).status).toBe(400);
  });
});

test("a sender that is not verified is refused, with what to do", async () => {
  await using world = await production();
  const refused = await sendFrom(world, "hi@acme.test");
  expect(await refused.json()).toMatchObject({
    error: {
      code: "sender_not_verified",
      status: 400,
      details: [{ path: "from", code: "sender_not_verified" }],
      hint: "Add and verify it: mailsvc senders create --email hi@acme.test",
    },
  });
});

test("adding an existing sender is a conflict, in any spelling", async () => {
  await using world = await createWorld();
  await world.sdk.senders.create({ email: "hi@acme.com" });
  await expect(world.sdk.senders.create({ email: "HI@ACME.com" })).rejects.toMatchObject({ code: "conflict", status: 409 });
  await world.sdk.senders.create({ domain: "bücher.com" });
  await expect(world.sdk.senders.create({ domain: "xn--bcher-kva.com" })).rejects.toMatchObject({ code: "conflict" });
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => ask(world, { path: "/api/v1/senders", body: { email: "many@acme.com" } })),
  );
  expect(answers.filter((a) => a.status === 201)).toHaveLength(1);
  expect(answers.filter((a) => a.status === 409)).toHaveLength(9);
});

test("removing a sender ends its right to send, and it can be added again", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.senders.create({ email: "hi@acme.com" });
  await world.sdk.senders.delete(id);
  expect((await sendFrom(world, "hi@acme.com")).status).toBe(400);
  await expect(world.sdk.senders.get(id)).rejects.toMatchObject({ code: "not_found" });
  await expect(world.sdk.senders.create({ email: "hi@acme.com" })).resolves.toMatchObject({ status: "VERIFIED" });
});

describe("an address in production", () => {
  const linkIn = (text: string | null | undefined): string => /http:\/\/\S+\/senders\/confirm\/\S+/.exec(text ?? "")?.[0] ?? "";

  test("is confirmed by the button behind the link of a mail, not by opening the link", async () => {
    const mailer = scriptedMailer();
    await using world = await production({ mailer });
    const made = await world.sdk.senders.create({ email: "hi@acme.com" });
    expect(made).toMatchObject({ status: "PENDING", dnsRecord: null, verifiedAt: null });
    await world.settle();
    const [sent] = mailer.sent;
    expect(sent).toMatchObject({
      to: [{ address: "hi@acme.com", name: "" }],
      envelopeTo: "hi@acme.com",
      subject: "Confirm hi@acme.com as a sender",
    });
    const link = linkIn(sent?.text);

    const opened = await page(world, "GET", link);
    expect([opened.status, opened.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(await opened.text()).toContain('<form method="post">');
    await page(world, "GET", link);
    await page(world, "HEAD", link);
    expect((await world.sdk.senders.get(made.id)).status).toBe("PENDING");
    expect((await sendFrom(world, "hi@acme.com")).status).toBe(400);

    const confirmed = await page(world, "POST", link);
    expect(confirmed.status).toBe(200);
    expect(await confirmed.text()).toContain("Email can now be sent from");
    expect(await world.sdk.senders.get(made.id)).toMatchObject({ status: "VERIFIED", verifiedAt: "2026-01-01T00:00:00.000Z" });
    expect((await sendFrom(world, "hi@acme.com")).status).toBe(200);
    expect((await page(world, "POST", link)).status).toBe(200);
  });

  test("is asked for by the name of the brand, in the mail and on the page; without one by the name of the server", async () => {
    const mailer = scriptedMailer();
    await using world = await production({ mailer });
    await world.sdk.senders.create({ email: "hi@acme.com" });
    await world.settle();
    expect(mailer.sent[0]?.text).toContain("Somebody at mailsvc.test asks to send email from this address:");
    await world.sdk.brand.update({ name: "Acme <b>" });
    await world.sdk.senders.create({ email: "news@acme.com" });
    await world.settle();
    expect(mailer.sent[1]?.text).toContain("Acme <b> asks to send email from this address:");
    expect(mailer.sent[1]?.html).toContain("Acme &lt;b&gt; asks to send");
    const shown = await (await page(world, "GET", linkIn(mailer.sent[0]?.text))).text();
    expect(shown).toContain('<b dir="auto">Acme &lt;b&gt;</b> asks to send email from <b dir="auto">hi@acme.com</b>.');
  });

  test("a token that is guessed, cut off or of a removed sender opens nothing", async () => {
    const mailer = scriptedMailer();
    await using world = await production({ mailer });
    const { id } = await world.sdk.senders.create({ email: "hi@acme.com" });
    await world.settle();
    const link = linkIn(mailer.sent[0]?.text);
    expect((await page(world, "POST", link.slice(0, -1))).status).toBe(404);
    await world.sdk.senders.delete(id);
    expect((await page(world, "GET", link)).status).toBe(404);
    expect((await page(world, "POST", link)).status).toBe(404);
  });

  test("the token is in no answer of the API", async () => {
    const mailer = scriptedMailer();
    await using world = await production({ mailer });
    const { id } = await world.sdk.senders.create({ email: "hi@acme.com" });
    await world.settle();
    const token = linkIn(mailer.sent[0]?.text).split("/").at(-1) as string;
    expect(token).toHaveLength(48);
    for (const path of ["/api/v1/senders", `/api/v1/senders/${id}`, "/api/v1/jobs"])
      expect(await (await ask(world, { method: "GET", path })).text()).not.toContain(token);
  });

  test("an address made of markup is shown as text", async () => {
    const mailer = scriptedMailer();
    await using world = await production({ mailer });
    await world.sdk.senders.create({ email: "a&b'c@acme.com" });
    await world.settle();
    const html = await (await page(world, "GET", linkIn(mailer.sent[0]?.text))).text();
    for (const text of [html, mailer.sent[0]?.html]) {
      expect(text).toContain("a&amp;b&#x27;c@acme.com");
      expect(text).not.toContain("b'c");
    }
  });

  test("verify sends the mail again, but not twice at once", async () => {
    const mailer = scriptedMailer();
    await using world = await production({ mailer });
    const { id } = await world.sdk.senders.create({ email: "hi@acme.com" });
    await world.settle();
    await Promise.all(Array.from({ length: 5 }, () => world.sdk.senders.verify(id)));
    await world.settle();
    expect(mailer.sent.length).toBeGreaterThanOrEqual(2);
    expect(mailer.sent.length).toBeLessThanOrEqual(6);
    expect(new Set(mailer.sent.map((m) => linkIn(m.text))).size).toBe(1);
  });

  test("a confirmation mail that bounces says so at the sender, and is not tried again by itself", async () => {
    const mailer = scriptedMailer(() => noSuchUser);
    await using world = await production({ mailer });
    const { id } = await world.sdk.senders.create({ email: "nobody@acme.com" });
    await world.clock.advance("7d");
    expect(mailer.sent).toHaveLength(1);
    expect(await world.sdk.senders.get(id)).toMatchObject({ status: "PENDING", lastError: expect.stringContaining("No such user") });
  });
});

describe("a domain in production", () => {
  test("is verified once its TXT record is found by the periodic check", async () => {
    const dns = fakeDns();
    await using world = await production({ dns });
    const made = await world.sdk.senders.create({ domain: "acme.com" });
    expect(made).toMatchObject({
      status: "PENDING",
      dnsRecord: { type: "TXT", name: "_mailsvc.acme.com", value: expect.stringMatching(/^mailsvc-verify=[0-9a-f]{48}$/) },
    });
    await world.clock.advance("1h");
    expect(dns.asked.length).toBe(13);
    expect(await world.sdk.senders.get(made.id)).toMatchObject({
      status: "PENDING",
      lastError: "There is no TXT record at _mailsvc.acme.com.",
    });
    dns.records.set("_mailsvc.acme.com", ["something=else", made.dnsRecord?.value as string]);
    await world.clock.advance("5m");
    expect(await world.sdk.senders.get(made.id)).toMatchObject({
      status: "VERIFIED",
      lastError: null,
      dnsRecord: null,
      verifiedAt: "2026-01-01T01:05:00.000Z",
    });
    const asked = dns.asked.length;
    await world.clock.advance("10d");
    // Once a day from then on.
    expect(dns.asked.length - asked).toBe(9);
    expect((await sendFrom(world, "anyone@acme.com")).status).toBe(200);
  });

  test("the check gives up after three days; verify looks at once", async () => {
    const dns = fakeDns();
    await using world = await production({ dns });
    const made = await world.sdk.senders.create({ domain: "acme.com" });
    await world.clock.advance("4d");
    const asked = dns.asked.length;
    expect(asked).toBe((72 * 60) / 5);
    await world.clock.advance("4d");
    expect(dns.asked.length).toBe(asked);
    expect(await world.sdk.senders.verify(made.id)).toMatchObject({ status: "PENDING" });
    dns.records.set("_mailsvc.acme.com", [` ${made.dnsRecord?.value} `]);
    expect(await world.sdk.senders.verify(made.id)).toMatchObject({ status: "VERIFIED" });
  });

  test.each([
    [
      "a record of another token",
      (d: ReturnType<typeof fakeDns>) => void d.records.set("_mailsvc.acme.com", ["mailsvc-verify=0000"]),
      "does not match",
    ],
    ["name servers that do not answer", (d: ReturnType<typeof fakeDns>) => void (d.broken = true), "did not answer (ESERVFAIL)"],
    [
      "a record at the domain itself",
      (d: ReturnType<typeof fakeDns>) => void d.records.set("acme.com", ["mailsvc-verify=x"]),
      "There is no TXT record",
    ],
  ])("%s does not verify, and the reason is shown", async (_what, prepare, reason) => {
    const dns = fakeDns();
    prepare(dns);
    await using world = await production({ dns });
    const { id } = await world.sdk.senders.create({ domain: "acme.com" });
    expect((await world.sdk.senders.verify(id)).lastError).toContain(reason);
  });

  test("a domain that is verified stays so when its record goes", async () => {
    const dns = fakeDns();
    await using world = await production({ dns });
    const made = await world.sdk.senders.create({ domain: "acme.com" });
    dns.records.set("_mailsvc.acme.com", [made.dnsRecord?.value as string]);
    await world.sdk.senders.verify(made.id);
    dns.records.clear();
    expect(await world.sdk.senders.verify(made.id)).toMatchObject({ status: "VERIFIED", failingSince: expect.any(String) });
  });

  test("has its record looked for every day: a missing one is shown, the operator is warned, and it may still send", async () => {
    const dns = fakeDns();
    const mailer = acceptingMailer();
    await using world = await production({ dns, mailer });
    const warned = vi.spyOn(world.app.deps.log, "warn");
    const back = vi.spyOn(world.app.deps.log, "info");
    const made = await world.sdk.senders.create({ domain: "acme.com" });
    const record = made.dnsRecord?.value ?? "";
    dns.records.set("_mailsvc.acme.com", [record]);
    await world.clock.advance("10m");
    const verified = await world.sdk.senders.get(made.id);
    expect(verified).toMatchObject({ status: "VERIFIED", dnsRecord: null, failingSince: null, lastError: null });
    const asked = dns.asked.length;
    await world.clock.advance("3d");
    expect(dns.asked.length - asked).toBe(3);
    expect(await world.sdk.senders.get(made.id)).toEqual(verified);

    // Name servers that do not answer say nothing about the record.
    dns.broken = true;
    await world.clock.advance("1d");
    expect(await world.sdk.senders.get(made.id)).toMatchObject({
      failingSince: null,
      lastError: expect.stringContaining("did not answer"),
    });
    dns.broken = false;
    dns.records.clear();
    await world.clock.advance("1d");
    const failing = await world.sdk.senders.get(made.id);
    expect(failing).toMatchObject({
      status: "VERIFIED",
      verifiedAt: verified.verifiedAt,
      failingSince: expect.any(String),
      lastError: "There is no TXT record at _mailsvc.acme.com.",
      dnsRecord: { type: "TXT", name: "_mailsvc.acme.com", value: record },
    });
    expect(warned.mock.calls).toEqual([
      ["the DNS record of a verified domain is missing", { id: made.id, workspaceId: world.workspaceId, reason: failing.lastError }],
    ]);
    await world.sdk.emails.send({ from: "hello@acme.com", to: "ada@example.com", subject: "Hi", text: "Hi" });
    const { findings } = await world.sdk.domains.check({ domain: "acme.com" });
    expect(findings[0]).toMatchObject({
      check: "sender",
      status: "warn",
      record: { value: record },
      hint: expect.stringContaining("Publish it again"),
    });

    // Looked for every hour until it is back.
    await world.clock.advance("1d");
    expect(await world.sdk.senders.get(made.id)).toMatchObject({ failingSince: failing.failingSince });
    expect(warned).toHaveBeenCalledTimes(1);
    dns.records.set("_mailsvc.acme.com", [record]);
    await world.clock.advance("1h");
    expect(await world.sdk.senders.get(made.id)).toEqual(verified);
    expect(back.mock.calls).toContainEqual([
      "the DNS record of a verified domain is back",
      { id: made.id, workspaceId: world.workspaceId },
    ]);
  });

  test("has an event once its record has been missing for a day, and one when it is back; a short absence has none", async () => {
    const dns = fakeDns();
    await using world = await production({ dns });
    const { id, dnsRecord } = await world.sdk.senders.create({ domain: "acme.com" });
    const publish = () => dns.records.set("_mailsvc.acme.com", [dnsRecord?.value ?? ""]);
    const listOurs = async () => {
      await world.settle();
      return (await world.events.all()).flatMap(({ type, data }) => (type.startsWith("domain.") ? [{ type, data }] : []));
    };
    publish();
    await world.clock.advance("10m");
    dns.records.clear();
    await world.clock.advance("1d");
    expect(await world.sdk.senders.get(id)).toMatchObject({ failingSince: expect.any(String) });
    publish();
    await world.clock.advance("1h");
    expect(await listOurs()).toEqual([]);
    dns.records.clear();
    await world.clock.advance("1d");
    const { failingSince } = await world.sdk.senders.get(id);
    await world.clock.advance("23h");
    await world.sdk.senders.verify(id);
    expect(await listOurs()).toEqual([]);
    await world.clock.advance("2d");
    const about = { senderId: id, domain: "acme.com", failingSince };
    const missing = { type: "domain.record_missing", data: { ...about, reason: "There is no TXT record at _mailsvc.acme.com." } };
    expect(await listOurs()).toEqual([missing]);
    publish();
    await world.sdk.senders.verify(id);
    await world.clock.advance("2d");
    expect(await listOurs()).toEqual([missing, { type: "domain.record_restored", data: about }]);
  });

  test("that was verified without proof is not looked for", async () => {
    const dns = fakeDns();
    await using world = await production({ dns });
    const { id } = await world.sdk.senders.create({ domain: "acme.com" });
    await world.sdk.senders.verify(id, { force: true });
    const asked = dns.asked.length;
    await world.clock.advance("3d");
    await world.sdk.senders.verify(id);
    expect(await world.sdk.senders.get(id)).toMatchObject({ status: "VERIFIED", failingSince: null, lastError: null });
    expect(dns.asked.slice(asked + 1)).toEqual([]);
  });

  test("is one of many: all are looked for in a day, and none twice", async () => {
    const dns = fakeDns();
    await using world = await production({ dns });
    const made = await Promise.all(Array.from({ length: 130 }, (_, i) => world.sdk.senders.create({ domain: `d${i}.com` })));
    for (const { dnsRecord } of made) dns.records.set(dnsRecord?.name ?? "", [dnsRecord?.value ?? ""]);
    await world.clock.advance("10m");
    dns.asked.length = 0;
    dns.records.delete("_mailsvc.d7.com");
    await world.clock.advance("24h");
    expect(dns.asked).toHaveLength(130);
    expect(new Set(dns.asked).size).toBe(130);
    const failing = (await world.sdk.senders.list({ limit: 100 }).toArray()).filter(({ failingSince }) => failingSince !== null);
    expect(failing.map(({ value }) => value)).toEqual(["d7.com"]);
  });

  test("the confirmation link opens addresses only: a domain's token is for DNS", async () => {
    const dns = fakeDns();
    await using world = await production({ dns });
    const made = await world.sdk.senders.create({ domain: "acme.com" });
    const token = made.dnsRecord?.value.split("=")[1];
    expect((await page(world, "POST", `http://x.test/senders/confirm/${token}`)).status).toBe(404);
    expect((await world.sdk.senders.get(made.id)).status).toBe("PENDING");
  });
});

describe("without proof", () => {
  test("the owner key may verify a sender by force", async () => {
    await using world = await production();
    const domain = await world.sdk.senders.create({ domain: "acme.test" });
    const address = await world.sdk.senders.create({ email: "hi@shop.test" });
    expect(await world.sdk.senders.verify(domain.id, { force: true })).toMatchObject({ status: "VERIFIED", dnsRecord: null });
    expect(await world.sdk.senders.verify(address.id, { force: true })).toMatchObject({ status: "VERIFIED" });
    for (const from of ["any@acme.test", "hi@shop.test"]) expect((await sendFrom(world, from)).status).toBe(200);
    expect((await sendFrom(world, "other@shop.test")).status).toBe(400);
  });

  test("no other key may, whatever its permissions are", async () => {
    await using world = await production();
    const { id } = await world.sdk.senders.create({ domain: "acme.test" });
    const key = await keyFor(world, ...PERMISSIONS);
    const verify = (body: object) => ask(world, { path: `/api/v1/senders/${id}/verify`, key, body });
    const refused = await verify({ force: true });
    expect([refused.status, await refused.json()]).toMatchObject([403, { error: { code: "forbidden", details: [{ path: "force" }] } }]);
    expect((await verify({})).status).toBe(200);
    expect(await world.sdk.senders.get(id)).toMatchObject({ status: "PENDING" });
  });

  test("--trust-sender lets the first workspace send, and no other one", async () => {
    await using world = await production({ flags: { "trust-sender": "ACME.com, Hi@Shop.example" } });
    for (const from of ["any@acme.com", "hi@shop.example"]) expect((await sendFrom(world, from)).status).toBe(200);
    expect((await sendFrom(world, "other@shop.example")).status).toBe(400);
    expect((await world.sdk.senders.list()).data.map(({ value, status }) => `${value} ${status}`).sort()).toEqual([
      "acme.com VERIFIED",
      "hi@shop.example VERIFIED",
    ]);
    const other = await world.createWorkspace("other");
    expect((await ask(world, { path: "/api/v1/send", key: other.apiKey, body: { ...mail, from: "any@acme.com" } })).status).toBe(400);
  });

  test("--trust-sender verifies a sender that waits for its proof", async () => {
    await using world = await production();
    await world.sdk.senders.create({ domain: "acme.test" });
    const { db } = world.app.deps;
    await db.tx((tx) => trustSenders(tx, world.app.deps, world.workspaceId, ["acme.test"]));
    expect((await world.sdk.senders.list()).data).toMatchObject([{ value: "acme.test", status: "VERIFIED" }]);
  });

  test("--trust-sender takes only domains and addresses", () => {
    const read = (text: string) => readConfig({ flags: { "trust-sender": text }, env: {}, dev: false }).trustedSenders;
    expect(read("acme.com,bücher.example")).toEqual(["acme.com", "xn--bcher-kva.example"]);
    for (const text of ["", ",", "a b", "a@", "acme.com,"])
      if (text !== "") expect(() => read(text)).toThrow(/--trust-sender takes a domain/);
  });
});
