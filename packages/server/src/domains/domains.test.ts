import { generateKeyPairSync } from "node:crypto";
import { Mailsvc } from "@mailsvc/sdk";
import type { DomainCheck, DomainFinding, NewRelay } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { manualTime } from "../../test/manual-time.ts";
import { ask } from "../../test/scenario.ts";
import { keyFor } from "../../test/tenant.ts";
import { ControllableClock } from "../lib/controllable-clock.ts";
import { type DomainRecords, noRecords } from "../lib/domain-records.ts";
import { toPublicKey } from "../mail/dkim.ts";
import { createWorld, type WorldOptions } from "../testing.ts";

const HOST = "mail.acme.com";
const ADDRESS = "93.184.216.34";

const makeKey = (bits = 2048): string =>
  generateKeyPairSync("rsa", { modulusLength: bits }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const PRIVATE_KEY = makeKey();
const dkimRecord = (privateKey: string): string => `v=DKIM1; k=rsa; p=${toPublicKey({ privateKey }).key}`;

interface Zone {
  readonly txt?: Readonly<Record<string, string | readonly string[]>>;
  readonly mx?: Readonly<Record<string, string>>;
  readonly a?: Readonly<Record<string, string>>;
  readonly ptr?: Readonly<Record<string, string>>;
}

/** Records of a domain that has done everything right. */
const GOOD = {
  txt: {
    "acme.com": ["google-site-verification=x", `v=spf1 ip4:${ADDRESS} -all`],
    "mail._domainkey.acme.com": dkimRecord(PRIVATE_KEY),
    "_dmarc.acme.com": "v=DMARC1; p=reject; rua=mailto:dmarc@acme.com",
  },
  mx: { "acme.com": HOST },
  a: { [HOST]: ADDRESS },
  ptr: { [ADDRESS]: HOST },
} as const satisfies Zone;

const one = <T>(value: T | undefined): T[] => (value === undefined ? [] : [value]);

function fakeDns({ txt = {}, mx = {}, a = {}, ptr = {} }: Zone): DomainRecords {
  return {
    txt: async (name) => [txt[name] ?? []].flat(),
    mx: async (name) => one(mx[name]).map((exchange) => ({ priority: 10, exchange })),
    addresses: async (name) => one(a[name]),
    names: async (address) => one(ptr[address]),
  };
}

const withTxt = (changes: Readonly<Record<string, string | readonly string[]>>): Zone => ({ ...GOOD, txt: { ...GOOD.txt, ...changes } });

/** Checks acme.com, whose mail takes a relay that signs it. */
async function check(
  dns: Partial<DomainRecords>,
  {
    relay = {},
    query = {},
    ...options
  }: WorldOptions & { relay?: Partial<NewRelay>; query?: Partial<{ domain: string; ip: string; selector: string }> } = {},
): Promise<DomainCheck> {
  await using world = await createWorld({ dns, ...options });
  const operator = new Mailsvc({ apiKey: world.operatorKey, baseUrl: world.url, fetch: world.fetch });
  const dkim = [{ domain: "acme.com", selector: "mail", privateKey: PRIVATE_KEY }];
  await operator.relays.add({ name: "default", host: HOST, dkim, ...relay });
  await world.sdk.senders.create({ domain: "acme.com" });
  // Awaited here: the world ends with this function.
  return await world.sdk.domains.check({ domain: "acme.com", ...query });
}

const about = ({ findings }: DomainCheck, name: DomainFinding["check"]): DomainFinding[] => findings.filter((one) => one.check === name);

test("a domain with everything right has no fault, and nothing to publish", async () => {
  const found = await check(fakeDns(GOOD));
  expect(found).toMatchObject({ domain: "acme.com", ok: true, relay: "default", returnPathDomain: "acme.com" });
  expect(found.findings.map(({ check: name, status }) => `${name} ${status}`)).toEqual([
    "sender ok",
    "spf ok",
    "dkim ok",
    "dmarc ok",
    "alignment ok",
    "ptr ok",
    "mx ok",
  ]);
  expect(found.findings.every(({ record, hint }) => record === null && hint === null)).toBe(true);
});

test("a domain without records gets them to publish, and with them there is no fault", async () => {
  const first = await check(fakeDns({ a: GOOD.a, ptr: GOOD.ptr, mx: GOOD.mx }));
  expect(first.ok).toBe(false);
  const records = first.findings.flatMap(({ record }) => record ?? []);
  expect(records.map(({ type, name }) => `${type} ${name}`)).toEqual([
    "TXT acme.com",
    "TXT mail._domainkey.acme.com",
    "TXT _dmarc.acme.com",
  ]);
  expect(records[0]?.value).toBe(`v=spf1 ip4:${ADDRESS} ~all`);
  const txt = Object.fromEntries(records.map(({ name, value }) => [name, value]));
  expect(await check(fakeDns({ ...GOOD, txt }))).toMatchObject({ ok: true });
});

describe("SPF", () => {
  test("of several records none counts, and one that joins them is to be published", async () => {
    const found = await check(fakeDns(withTxt({ "acme.com": ["v=spf1 include:a.test ~all", `v=spf1 ip4:${ADDRESS} -all`] })));
    expect(about(found, "spf")).toMatchObject([{ status: "fail", record: { value: `v=spf1 include:a.test ip4:${ADDRESS} ~all` } }]);
  });

  test("a record that does not have the relay gets it, before the term for all others", async () => {
    const found = await check(fakeDns(withTxt({ "acme.com": "v=spf1 a:other.test ip4:8.8.8.0/24 -all" })));
    expect(about(found, "spf")).toMatchObject([
      {
        status: "fail",
        message: expect.stringContaining(ADDRESS),
        record: { name: "acme.com", value: `v=spf1 a:other.test ip4:8.8.8.0/24 ip4:${ADDRESS} -all` },
      },
    ]);
  });

  test.each([
    [`v=spf1 ip4:93.184.216.0/24 -all`, true],
    ["v=spf1 mx -all", true],
    ["v=spf1 a:mail.acme.com ~all", true],
    ["v=spf1 include:inner.test -all", true],
    ["v=spf1 redirect=inner.test", true],
    ["v=spf1 -include:inner.test +ip4:93.184.216.34 -all", false],
    ["v=spf1 ip6:2001:db8::/32 -all", false],
    ["v=spf1 -all", false],
  ])("%s lets the relay send: %s", async (record, permitted) => {
    const found = await check(fakeDns(withTxt({ "acme.com": record, "inner.test": `v=spf1 ip4:${ADDRESS} -all` })));
    expect(about(found, "spf")[0]?.status).toBe(permitted ? "ok" : "fail");
  });

  test("more than ten lookups are an error, whichever would match first", async () => {
    const parts = Array.from({ length: 11 }, (_, n) => `part${n}.test`);
    const zone = withTxt({
      "acme.com": `v=spf1 ip4:${ADDRESS} ${parts.map((part) => `include:${part}`).join(" ")} -all`,
      ...Object.fromEntries(parts.map((part) => [part, "v=spf1 ip4:8.8.8.8 -all"])),
    });
    expect(about(await check(fakeDns(zone)), "spf")).toMatchObject([
      { status: "fail", message: "It needs 11 lookups; receivers stop at 10." },
    ]);
  });

  test("records that include each other, faulty terms and a missing include are errors", async () => {
    const zone = withTxt({
      "acme.com": "v=spf1 include:loop.test include:gone.test ip4:999.1.1.1 nonsense:1 -all",
      "loop.test": "v=spf1 include:acme.com -all",
    });
    const messages = about(await check(fakeDns(zone)), "spf").map(({ message }) => message);
    expect(messages).toEqual([
      "It includes itself: acme.com, then loop.test, then acme.com.",
      "include:gone.test leads to no SPF record.",
      "It has an address that does not exist: ip4:999.1.1.1",
      "It has a term that does not exist: nonsense:1",
    ]);
  });

  test("a provider's relay is looked for by its include, and +all fails", async () => {
    const ses = { host: "email-smtp.eu-west-1.amazonaws.com" };
    const missing = await check(fakeDns(withTxt({ "acme.com": "v=spf1 ~all" })), { relay: ses });
    expect(about(missing, "spf")[0]?.record?.value).toBe("v=spf1 include:amazonses.com ~all");
    const zone = withTxt({ "acme.com": "v=spf1 include:amazonses.com +all", "amazonses.com": "v=spf1 ip4:8.8.8.8 -all" });
    const found = await check(fakeDns(zone), { relay: ses });
    expect(about(found, "spf")).toMatchObject([{ status: "fail", message: expect.stringContaining("+all") }]);
    expect(about(found, "ptr")[0]?.status).toBe("skipped");
  });

  test("it is looked for at the domain of the return path, and an address can be given for a relay on this machine", async () => {
    const zone = withTxt({ "bounces.acme.com": "v=spf1 ip4:192.0.2.1 -all" });
    const options = { flags: { "inbound-domain": "bounces.acme.com" }, relay: { host: "127.0.0.1" } };
    const unknown = await check(fakeDns(zone), options);
    expect(unknown.returnPathDomain).toBe("bounces.acme.com");
    expect(about(unknown, "spf")).toMatchObject([{ status: "warn", hint: expect.stringContaining("public address (ip)") }]);
    const known = await check(fakeDns(zone), { ...options, query: { ip: "192.0.2.1" } });
    expect(about(known, "spf")[0]?.status).toBe("ok");
    expect(about(known, "mx").map(({ status }) => status)).toEqual(["ok", "fail"]);
  });
});

describe("DKIM", () => {
  test.each([
    ["another key", dkimRecord(makeKey()), "fail", "not the one this server signs with"],
    ["a revoked key", "v=DKIM1; p=", "fail", "revoked"],
    ["no key", "hello", "fail", "is no DKIM key"],
    ["a key for SHA-1", `v=DKIM1; h=sha1; p=${toPublicKey({ privateKey: PRIVATE_KEY }).key}`, "fail", "SHA-256"],
    ["a test key", `${dkimRecord(PRIVATE_KEY)}; t=y`, "warn", "t=y"],
  ])("%s in DNS is a finding", async (_, record, status, message) => {
    const [found] = about(await check(fakeDns(withTxt({ "mail._domainkey.acme.com": record }))), "dkim");
    expect(found).toMatchObject({ status, message: expect.stringContaining(message) });
  });

  test("a key of 1024 bits is too short to last", async () => {
    const privateKey = makeKey(1024);
    const zone = withTxt({ "s._domainkey.acme.com": dkimRecord(privateKey) });
    const found = await check(fakeDns(zone), { relay: { dkim: [{ domain: "acme.com", selector: "s", privateKey }] } });
    expect(about(found, "dkim")).toMatchObject([{ status: "warn", message: "The key at s._domainkey.acme.com has 1024 bits only." }]);
  });

  test("the key of a provider that signs is checked by its selector, and no private key is in an answer", async () => {
    const zone = withTxt({ "theirs._domainkey.acme.com": dkimRecord(makeKey()) });
    const unsigned = await check(fakeDns(zone), { relay: { dkim: [] } });
    expect(about(unsigned, "dkim")[0]).toMatchObject({ status: "warn", hint: expect.stringContaining("--selector") });
    const signed = await check(fakeDns(zone), { relay: { dkim: [] }, query: { selector: "theirs" } });
    expect(about(signed, "dkim")[0]?.status).toBe("ok");
    expect(about(signed, "alignment")[0]?.status).toBe("ok");
    expect(JSON.stringify([unsigned, signed])).not.toContain("PRIVATE");
  });
});

describe("DMARC as of RFC 9989", () => {
  const dmarc = async (txt: Readonly<Record<string, string | readonly string[]>>, domain = "acme.com", zone: Zone = {}) => {
    const found = await check(fakeDns({ ...withTxt({ "_dmarc.acme.com": [], ...txt }), ...zone }), { query: { domain } });
    return about(found, "dmarc");
  };

  test("tags that were taken away are named, with the record without them", async () => {
    const found = await dmarc({ "_dmarc.acme.com": "v=DMARC1; p=quarantine; pct=50; ri=3600; rua=mailto:d@acme.com" });
    expect(found[0]).toMatchObject({
      status: "warn",
      message: expect.stringContaining("pct, ri"),
      record: { name: "_dmarc.acme.com", value: "v=DMARC1; p=quarantine; rua=mailto:d@acme.com" },
      hint: expect.stringContaining("t=y"),
    });
  });

  test("a record above a subdomain is found by a walk up the tree: sp counts, and np for a domain that does not exist", async () => {
    const record = { "_dmarc.acme.com": "v=DMARC1; p=none; sp=quarantine; np=reject; rua=mailto:d@acme.com" };
    const exists = await dmarc(record, "news.eu.acme.com", { a: { ...GOOD.a, "news.eu.acme.com": ADDRESS } });
    expect(exists.map(({ message }) => message)).toEqual([
      "Mail that fails is put into spam (sp=quarantine), which acme.com publishes for the domains under it.",
    ]);
    expect((await dmarc(record, "news.eu.acme.com")).at(-1)?.message).toContain("refused (np=reject)");
  });

  test("a public suffix that says so ends the organization below it", async () => {
    const zone = { "_dmarc.co.test": "v=DMARC1; p=none; psd=y; rua=mailto:d@co.test" };
    const found = await check(fakeDns(withTxt({ ...zone, "_dmarc.acme.com": [] })), {
      query: { domain: "mail.other.co.test" },
      relay: { dkim: [{ domain: "co.test", selector: "x", privateKey: PRIVATE_KEY }] },
    });
    // co.test signs, but is another organization than other.co.test.
    expect(about(found, "alignment")[0]?.status).not.toBe("ok");
  });

  test("of a name with many labels only the last seven are walked through", async () => {
    const asked: string[] = [];
    const txt = async (name: string) => {
      asked.push(name);
      return [];
    };
    const dns = { ...noRecords, txt };
    await check(dns, { query: { domain: `${"a.".repeat(20)}acme.com` } });
    const walked = asked.filter((name) => name.startsWith("_dmarc.a."));
    expect(walked).toHaveLength(6);
    expect(asked).toContain("_dmarc.com");
  });

  test("several records, an unknown policy, a test and reports to nobody are findings", async () => {
    expect(await dmarc({ "_dmarc.acme.com": ["v=DMARC1; p=none", "v=DMARC1; p=reject"] })).toMatchObject([{ status: "fail" }]);
    expect((await dmarc({ "_dmarc.acme.com": "v=DMARC1; p=block; rua=mailto:d@acme.com" }))[0]).toMatchObject({
      status: "fail",
      record: { value: "v=DMARC1; p=none; rua=mailto:d@acme.com" },
    });
    const found = await dmarc({ "_dmarc.acme.com": "v=DMARC1; p=reject; t=y" });
    expect(found.map(({ status }) => status)).toEqual(["warn", "warn", "ok"]);
    expect(found[0]?.message).toContain("t=y");
    expect(found[1]?.message).toContain("rua");
  });

  test("a record between the domain and its organization does not count; one of a public suffix does, if the organization has none", async () => {
    const between = {
      "_dmarc.eu.acme.com": "v=DMARC1; p=reject; rua=mailto:d@acme.com",
      "_dmarc.acme.com": "v=DMARC1; p=none; rua=mailto:d@acme.com",
    };
    expect((await dmarc(between, "news.eu.acme.com")).at(-1)?.message).toContain("(p=none), which acme.com publishes");
    const suffix = {
      "_dmarc.eu.other.co.test": "v=DMARC1; p=reject; rua=mailto:d@co.test",
      "_dmarc.co.test": "v=DMARC1; p=none; sp=quarantine; psd=Y; rua=mailto:d@co.test",
    };
    const zone = { a: { ...GOOD.a, "news.eu.other.co.test": ADDRESS } };
    expect((await dmarc(suffix, "news.eu.other.co.test", zone)).at(-1)?.message).toContain("(sp=quarantine), which co.test publishes");
  });

  test("below a public suffix that is far above, the organization is the domain one label below it", async () => {
    const suffix = "b.c.d.e.f.g.test";
    const records = {
      [`_dmarc.${suffix}`]: "v=DMARC1; p=none; psd=y; rua=mailto:d@co.test",
      [`s._domainkey.acme.${suffix}`]: dkimRecord(PRIVATE_KEY),
    };
    const found = await check(fakeDns(withTxt(records)), {
      query: { domain: `x.y.acme.${suffix}` },
      relay: { dkim: [{ domain: `acme.${suffix}`, selector: "s", privateKey: PRIVATE_KEY }] },
    });
    expect(about(found, "alignment")[0]).toMatchObject({ status: "ok", message: expect.stringContaining(`acme.${suffix}`) });
  });

  test("words count in any case, a policy for subdomains that is no word spoils the record, and t=y is named by what it does", async () => {
    expect((await dmarc({ "_dmarc.acme.com": " V=DMARC1 ;p=REJECT; rua=mailto:d@acme.com" }))[0]?.message).toContain("refused (p=reject)");
    expect((await dmarc({ "_dmarc.acme.com": "v=dmarc1; p=reject" }))[0]?.message).toContain("has a DMARC record");
    expect((await dmarc({ "_dmarc.acme.com": "v=DMARC1; p=reject; sp=maybe; rua=mailto:d@acme.com" }))[0]).toMatchObject({
      status: "fail",
      message: expect.stringContaining('the sp "maybe", so receivers take it as p=none'),
    });
    expect((await dmarc({ "_dmarc.acme.com": "v=DMARC1; sp=none" }))[0]?.message).toContain("receivers ignore the record");
    expect((await dmarc({ "_dmarc.acme.com": "v=DMARC1; rua=mailto:d@acme.com" }))[0]).toMatchObject({
      status: "ok",
      message: expect.stringContaining("p=none"),
    });
    const test = await dmarc({ "_dmarc.acme.com": "v=DMARC1; p=reject; t=Y; rua=mailto:d@acme.com" });
    expect(test.at(-1)?.message).toContain("put into spam (p=reject, t=y)");
    const none = await dmarc({ "_dmarc.acme.com": "v=DMARC1; p=none; t=y; rua=mailto:d@acme.com" });
    expect(none.map(({ status }) => status)).toEqual(["ok"]);
  });

  test("several records above the one that counts are left out", async () => {
    const found = await dmarc(
      {
        "_dmarc.news.acme.com": "v=DMARC1; p=reject; rua=mailto:d@news.acme.com",
        "_dmarc.acme.com": ["v=DMARC1; p=none", "v=DMARC1; p=reject"],
      },
      "news.acme.com",
    );
    expect(found.map(({ status }) => status)).toEqual(["warn", "ok"]);
  });

  test("another domain must say that it takes the reports", async () => {
    const record = { "_dmarc.acme.com": "v=DMARC1; p=none; rua=mailto:x@reports.test" };
    expect((await dmarc(record))[0]).toMatchObject({
      status: "warn",
      record: { name: "acme.com._report._dmarc.reports.test", value: "v=DMARC1" },
    });
    expect((await dmarc({ ...record, "acme.com._report._dmarc.reports.test": "v=DMARC1" })).map(({ status }) => status)).toEqual(["ok"]);
  });

  test("strict alignment refuses a signature of the domain above", async () => {
    const zone = withTxt({ "_dmarc.acme.com": "v=DMARC1; p=none; adkim=s; aspf=s; rua=mailto:d@acme.com" });
    expect(about(await check(fakeDns(zone), { query: { domain: "news.acme.com" } }), "alignment")[0]?.status).toBe("fail");
    expect(about(await check(fakeDns(GOOD), { query: { domain: "news.acme.com" } }), "alignment")[0]?.status).toBe("ok");
  });
});

describe("names and mail servers", () => {
  test("an address without a name, and one whose name leads elsewhere, fail", async () => {
    const nameless = about(await check(fakeDns({ ...GOOD, ptr: {} })), "ptr");
    expect(nameless).toMatchObject([{ status: "fail", record: { type: "PTR", name: ADDRESS, value: HOST } }]);
    const elsewhere = about(await check(fakeDns({ ...GOOD, ptr: { [ADDRESS]: "x.test" }, a: { ...GOOD.a, "x.test": "8.8.8.8" } })), "ptr");
    expect(elsewhere).toMatchObject([{ status: "fail", message: expect.stringContaining("does not lead back") }]);
  });

  test("the MX of an inbound domain must lead to this server", async () => {
    await using world = await createWorld({ dns: fakeDns(GOOD), flags: { "inbound-domain": "in.host.test" } });
    await world.sdk.inboundDomains.create({ domain: "acme.com" });
    const found = await world.sdk.domains.check({ domain: "acme.com" });
    expect(about(found, "mx")[0]).toMatchObject({ status: "fail", record: { type: "MX", name: "acme.com", value: "10 in.host.test" } });
  });
});

describe("name servers that misbehave", () => {
  test.each<[string, Partial<DomainRecords>]>([
    ["fail", { ...failing() }],
    [
      "answer with huge records",
      { ...noRecords, txt: async () => Array.from({ length: 10_000 }, () => `v=spf1 ${"include:x.test ".repeat(50_000)}`) },
    ],
    [
      "answer with records that lead on for ever",
      { ...noRecords, txt: async (name) => [`v=spf1 include:a.${name.slice(-200)} include:b.${name.slice(-200)} -all`] },
    ],
    [
      "answer with names that are none",
      { ...noRecords, mx: async () => [{ priority: 0, exchange: `${"x".repeat(300)}\u0000..` }], names: async () => ["\u001b[31m"] },
    ],
  ])("and %s lead to findings", async (_, dns) => {
    const found = await check(dns);
    expect(found.findings.length).toBeGreaterThan(4);
    expect(found.findings.every(({ message }) => message.length < 1000)).toBe(true);
    expect(JSON.stringify(found).length).toBeLessThan(100_000);
  });

  test("and hang lead to findings within the time limit", async () => {
    const hangs = () => new Promise<never>(() => {});
    const time = manualTime();
    class ManualClock extends ControllableClock {
      override readonly real = time.real;
    }
    const checking = check({ txt: hangs, mx: hangs, addresses: hangs, names: hangs }, { clock: ManualClock });
    let over = false;
    const end = (): void => {
      over = true;
    };
    checking.then(end, end);
    while (!over) await time.advance(1000);
    const found = await checking;
    expect(about(found, "spf")).toMatchObject([{ status: "warn", message: "The name servers for acme.com did not answer in time." }]);
    expect(about(found, "dmarc")).toMatchObject([{ status: "warn" }]);
  });
});

test("a key needs the permission, and faulty input names its field", async () => {
  await using world = await createWorld();
  const key = await keyFor(world, "contacts:read");
  expect((await ask(world, { method: "GET", path: "/api/v1/domain-check?domain=acme.com", key })).status).toBe(403);
  for (const [query, path] of [
    ["domain=nonsense..com", "domain"],
    ["domain=acme.com&ip=999.1.1.1", "ip"],
    ["domain=acme.com&selector=a_b/c", "selector"],
    ["", "domain"],
  ]) {
    const answer = await ask(world, { method: "GET", path: `/api/v1/domain-check?${query}` });
    expect([answer.status, (await answer.json()).error.details[0].path]).toEqual([400, path]);
  }
});

function failing(): DomainRecords {
  const fail = async () => {
    throw Object.assign(new Error("no answer"), { code: "ESERVFAIL" });
  };
  return { txt: fail, mx: fail, addresses: fail, names: fail };
}
