import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type FakeListmonk, type FakeSubscriber, fakeListmonk } from "./former-services.ts";
import { folder } from "./harness.ts";
import { beside, everything, KEYS, members, people, readReport } from "./moved.ts";
import { startCliWithServer } from "./world.ts";

const LISTMONK = "https://lists.acme.example";

const on = (id: number, subscription_status = "confirmed") => ({ id, subscription_status });

const FORMER: FakeListmonk = {
  lists: [
    { id: 1, name: "Newsletter", optin: "double", description: "weekly" },
    { id: 2, name: "Product", type: "private" },
    { id: 3, name: "Product" },
  ],
  subscribers: [
    { id: 1, email: "ada@example.com", name: "Ada King Lovelace", attribs: { city: "London", seats: 5 }, lists: [on(1), on(2)] },
    { id: 2, email: "unconfirmed@example.com", name: "Una", lists: [on(1, "unconfirmed")] },
    { id: 3, email: "single@example.com", lists: [on(2, "unconfirmed")] },
    { id: 4, email: "left-all@example.com", lists: [on(1, "unsubscribed")] },
    { id: 5, email: "left-one@example.com", lists: [on(1, "unsubscribed"), on(3)] },
    { id: 6, email: "blocked@example.com", status: "blocklisted", lists: [on(2)] },
    { id: 7, email: "disabled@example.com", status: "disabled", lists: [on(2)] },
    { id: 8, email: "nowhere@example.com" },
    { id: 9, email: "bounced@example.com", lists: [on(2)] },
    { id: 10, email: "not an address", lists: [on(2)] },
    { id: 11, email: "ADA@example.com", lists: [on(3)] },
    { id: 12, email: "big@example.com", attribs: { text: "x".repeat(20_000) }, lists: [on(2)] },
  ],
  bounces: [
    { id: 1, type: "soft", email: "ada@example.com" },
    { id: 2, type: "hard", email: "bounced@example.com" },
    { id: 3, type: "complaint", email: "angry@example.com" },
  ],
  templates: [
    {
      id: 1,
      name: "Default",
      type: "campaign",
      body: '<html>{{ template "content" . }}<a href="{{ UnsubscribeURL }}">no</a>{{ TrackView }}</html>',
    },
    { id: 2, name: "Receipt", type: "tx", subject: "Order {{ .Tx.Data.order }}", body: "<p>Hi {{ .Subscriber.FirstName }}</p>" },
    { id: 3, name: "Clever", type: "tx", subject: "s", body: "{{ if .Subscriber.Attribs.vip }}VIP{{ end }}" },
  ],
};

describe("from listmonk", () => {
  const importing = ["import", "listmonk", LISTMONK];

  test("people, lists, suppressions and templates are moved, and every row is accounted for", async () => {
    const cli = await startCliWithServer();
    const service = fakeListmonk(LISTMONK, FORMER);
    const cwd = folder();
    const done = await beside(cli, service)([...importing, "--errors-file", "left.csv"], { cwd });
    expect([done.code, done.stderr]).toEqual([11, ""]);
    expect(done.json).toMatchObject({ complete: true, dryRun: false, open: 0 });
    expect(readReport(done)).toEqual({
      lists: { read: 3, added: 3 },
      suppressions: { read: 3, added: 3 },
      people: { read: 12, added: 9, changed: 1, failed: 2 },
      memberships: { read: 12, added: 6, unchanged: 2, leftOut: 4 },
      templates: { read: 3, added: 2, leftOut: 1 },
    });
    const found = await people(cli);
    expect(Object.fromEntries(Object.entries(found).map(([email, { status }]) => [email, status]))).toEqual({
      "ada@example.com": "SUBSCRIBED",
      "unconfirmed@example.com": "UNSUBSCRIBED",
      "single@example.com": "SUBSCRIBED",
      "left-all@example.com": "UNSUBSCRIBED",
      "left-one@example.com": "SUBSCRIBED",
      "blocked@example.com": "UNSUBSCRIBED",
      "disabled@example.com": "UNSUBSCRIBED",
      "nowhere@example.com": "UNSUBSCRIBED",
      "bounced@example.com": "BOUNCED",
    });
    expect(found["ada@example.com"]).toMatchObject({
      firstName: "Ada",
      lastName: "King Lovelace",
      customFields: { city: "London", seats: 5 },
      tags: [],
    });
    expect(await members(cli, "Newsletter")).toEqual(["ada@example.com"]);
    expect(await members(cli, "Product")).toEqual(["ada@example.com", "bounced@example.com", "single@example.com"]);
    expect(await members(cli, "Product (3)")).toEqual(["ada@example.com", "left-one@example.com"]);
    const templates = await cli.world.sdk.templates.list().toArray();
    expect(templates.map(({ slug, type, status }) => [slug, type, status])).toEqual([
      ["receipt", "transactional", "ACTIVE"],
      ["default", "layout", "ACTIVE"],
    ]);
    expect(done.json.reasons).toContainEqual(
      expect.objectContaining({
        part: "templates",
        outcome: "leftOut",
        reason: "{{ if .Subscriber.Attribs.vip }} has no counterpart here.",
      }),
    );
    expect(done.json.remarks).toEqual([expect.stringContaining("Newsletter")]);
    const left = readFileSync(join(cwd, "left.csv"), "utf8").trim().split("\r\n");
    expect(left).toHaveLength(1 + 2 + 4 + 1);
    expect(left).toContainEqual(expect.stringMatching(/^people,failed,subscriber 10,not an address,"?email: /));
    // Nobody was mailed.
    expect((await cli.world.sdk.emails.list()).data).toEqual([]);
  });

  test("run again, also after a kill at any request, nothing changes that was there", async () => {
    const whole = await startCliWithServer();
    await beside(whole, fakeListmonk(LISTMONK, FORMER))(importing);
    const wanted = await everything(whole);
    expect(readReport(await beside(whole, fakeListmonk(LISTMONK, FORMER))(importing))).toEqual({
      lists: { read: 3, unchanged: 3 },
      suppressions: { read: 3, unchanged: 3 },
      people: { read: 12, unchanged: 10, failed: 2 },
      memberships: { read: 12, unchanged: 8, leftOut: 4 },
      templates: { read: 3, unchanged: 2, leftOut: 1 },
    });
    expect(await everything(whole)).toEqual(wanted);

    const cli = await startCliWithServer();
    const shape = ({ contacts, suppressions, lists, templates }: typeof wanted) => ({
      contacts: contacts.map((row) => row.slice(1, 5)).sort(),
      suppressions: suppressions.map((row) => row.slice(1, 3)).sort(),
      lists: lists.map((row) => row.slice(1)).sort(),
      templates: templates.map((row) => row.slice(1)),
    });
    for (let last = 1, complete = false; !complete; last += 1) {
      // The write with this number arrives, and the program is gone before it hears the answer.
      let writes = 0;
      const dying = fakeListmonk(LISTMONK, FORMER);
      const done = await cli.mailsvc(importing, {
        env: KEYS,
        fetch: async (url, init) => {
          if (!String(url).startsWith(cli.world.url)) return dying.fetch(url, init);
          const response = await cli.world.fetch(url as string, init);
          if (init?.method === "POST") writes += 1;
          // Nothing is tried again after this answer.
          if (writes >= last) return new Response('{"error":{"code":"unauthorized","message":"killed"}}', { status: 401 });
          return response;
        },
      });
      complete = done.code === 11;
      expect(last).toBeLessThan(40);
    }
    expect(shape(await everything(cli))).toEqual(shape(wanted));
  });

  test("two runs at a time make one list of each, and one that was deleted is made again", async () => {
    const cli = await startCliWithServer();
    const run = beside(cli, fakeListmonk(LISTMONK, FORMER));
    await Promise.all([run(importing), run(importing)]);
    const lists = await cli.world.sdk.lists.list().toArray();
    expect(lists.map(({ name }) => name).sort()).toEqual(["Newsletter", "Product", "Product (3)"]);
    for (const { id } of lists) await cli.world.sdk.lists.delete(id);
    expect(readReport(await run(importing))).toMatchObject({ lists: { read: 3, added: 3 }, memberships: { added: 6 } });
    expect(await members(cli, "Newsletter")).toEqual(["ada@example.com"]);
  });

  test("pages of fifty are read whole, waits are obeyed and failures repeated", async () => {
    const cli = await startCliWithServer();
    const subscribers = Array.from({ length: 175 }, (_, i): FakeSubscriber => ({ id: i + 1, email: `p${i}@example.com`, lists: [on(1)] }));
    const service = fakeListmonk(LISTMONK, {
      lists: [{ id: 1, name: "All" }],
      subscribers,
      before: (path, n) => {
        if (n % 3 === 1) return new Response(JSON.stringify({ message: "slow down" }), { status: 429, headers: { "retry-after": "2" } });
        if (n % 7 === 2) return new Response("upstream", { status: 502 });
        if (path === "/api/bounces" && n < 6) throw new TypeError("socket hang up");
        return undefined;
      },
    });
    const done = await beside(cli, service)(importing);
    expect([done.code, done.stderr]).toEqual([0, ""]);
    expect(readReport(done)).toMatchObject({ people: { read: 175, added: 175 }, memberships: { read: 175, added: 175 } });
    expect(service.asked.filter((path) => path.startsWith("/api/subscribers?page=4")).length).toBeGreaterThan(0);
  });

  test("people who said no here, or left a list here, stay as they are, also when the source says otherwise", async () => {
    const cli = await startCliWithServer();
    const former = { ...FORMER, bounces: [], templates: [], subscribers: FORMER.subscribers.slice(0, 1) };
    await beside(cli, fakeListmonk(LISTMONK, former))(importing);
    const [list] = (await cli.world.sdk.lists.list({ search: "Newsletter" })).data;
    await cli.world.sdk.lists.remove(list?.id ?? "", { contacts: ["ada@example.com"] });
    await cli.world.sdk.contacts.update("ada@example.com", { status: "UNSUBSCRIBED" });
    const again = await beside(cli, fakeListmonk(LISTMONK, former))(importing);
    expect(readReport(again)).toMatchObject({ people: { read: 1, unchanged: 1 }, memberships: { read: 2, unchanged: 1, leftOut: 1 } });
    expect(again.json.reasons).toEqual([expect.objectContaining({ reason: "The person left this list here." })]);
    expect((await people(cli))["ada@example.com"]?.status).toBe("UNSUBSCRIBED");
    expect(await members(cli, "Newsletter")).toEqual([]);
  });

  test("people who leave a list at listmonk between two moves leave it here", async () => {
    const cli = await startCliWithServer();
    const former = (status: string): FakeListmonk => ({
      lists: [
        { id: 1, name: "Newsletter" },
        { id: 2, name: "Product" },
      ],
      subscribers: [{ id: 1, email: "ada@example.com", lists: [on(1, status), on(2)] }],
    });
    await beside(cli, fakeListmonk(LISTMONK, former("confirmed")))(importing);
    expect(await members(cli, "Newsletter")).toEqual(["ada@example.com"]);
    const again = await beside(cli, fakeListmonk(LISTMONK, former("unsubscribed")))(importing);
    expect(readReport(again)).toMatchObject({ memberships: { read: 2, changed: 1, unchanged: 1 } });
    expect([await members(cli, "Newsletter"), await members(cli, "Product")]).toEqual([[], ["ada@example.com"]]);
  });

  test("a dry run foresees the same numbers and stores nothing", async () => {
    const cli = await startCliWithServer();
    const before = await everything(cli);
    const dry = await beside(cli, fakeListmonk(LISTMONK, FORMER))([...importing, "--dry-run"]);
    expect(await everything(cli)).toEqual(before);
    const foreseen = readReport(dry);
    const real = readReport(await beside(cli, fakeListmonk(LISTMONK, FORMER))(importing));
    expect(foreseen).toEqual(real);
  });

  test("a list here that asks for confirmation is refused before anybody is mailed", async () => {
    const cli = await startCliWithServer();
    await cli.world.sdk.lists.create({ name: "Newsletter", doubleOptIn: true, confirmationFrom: "hello@acme.test" });
    const done = await beside(cli, fakeListmonk(LISTMONK, FORMER))(importing);
    expect([done.code, done.stdout]).toEqual([7, ""]);
    expect(done.stderr).toContain("--no-double-opt-in");
    expect(await people(cli)).toEqual({});
  });

  test.each([
    [{ LISTMONK_API_TOKEN: "wrong" }, 5, "answered 403: invalid API credentials"],
    [{ LISTMONK_API_USER: "" }, 2, "Set LISTMONK_API_USER and LISTMONK_API_TOKEN."],
  ])("wrong credentials %j end with %i before anything is stored", async (env, code, message) => {
    const cli = await startCliWithServer();
    const done = await beside(cli, fakeListmonk(LISTMONK, FORMER))(importing, { env });
    expect([done.code, done.stdout]).toEqual([code, ""]);
    expect(done.stderr).toContain(message);
    expect(done.stderr).not.toContain("wrong");
  });

  test("a file makes nobody mailable unless all agreed, and never those who are blocklisted", async () => {
    const cli = await startCliWithServer();
    const cwd = folder();
    const lines = [
      "uuid,email,name,attributes,status,created_at,updated_at",
      'u1,ada@example.com,Ada Lovelace,"{""city"":""London""}",enabled,2026-01-01,2026-01-01',
      "u2,bob@example.com,Bob,{},blocklisted,2026-01-01,2026-01-01",
      "u3,odd@example.com,Odd,not json,enabled,2026-01-01,2026-01-01",
      "u4,dis@example.com,Dis,{},disabled,2026-01-01,2026-01-01",
    ];
    writeFileSync(join(cwd, "subscribers.csv"), `${lines.join("\n")}\n`);
    const reading = ["import", "listmonk", "subscribers.csv", "--list", "Newsletter"];
    const first = await beside(cli, null)(reading, { cwd });
    expect(readReport(first)).toEqual({
      lists: { read: 1, added: 1 },
      suppressions: { read: 1, added: 1 },
      people: { read: 4, added: 3, failed: 1 },
    });
    expect(first.json.remarks).toEqual([expect.stringContaining("--agreed")]);
    expect(Object.values(await people(cli)).map(({ status }) => status)).toEqual(["UNSUBSCRIBED", "UNSUBSCRIBED", "UNSUBSCRIBED"]);

    writeFileSync(join(cwd, "empty.csv"), "");
    const empty = await beside(cli, null)(["import", "listmonk", "empty.csv"], { cwd });
    expect(empty).toMatchObject({ code: 3, stdout: "", stderr: expect.stringContaining("empty.csv is empty") });

    const other = await startCliWithServer();
    const agreed = await beside(other, null)([...reading, "--agreed"], { cwd });
    expect(readReport(agreed)).toMatchObject({ memberships: { read: 1, added: 1 } });
    expect(Object.fromEntries(Object.entries(await people(other)).map(([email, { status }]) => [email, status]))).toEqual({
      "ada@example.com": "SUBSCRIBED",
      "bob@example.com": "UNSUBSCRIBED",
      "dis@example.com": "UNSUBSCRIBED",
    });
    expect(await members(other, "Newsletter")).toEqual(["ada@example.com"]);
  });
});
