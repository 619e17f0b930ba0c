import { describe, expect, test } from "vitest";
import { fakeResend } from "./former-services.ts";
import { beside, everything, members, people, readReport } from "./moved.ts";
import { startCliWithServer } from "./world.ts";

describe("from Resend", () => {
  const FORMER_RESEND = {
    segments: [{ id: "seg-1", name: "Customers" }],
    topics: [{ id: "top-1", name: "News" }],
    contacts: [
      {
        id: "c1",
        email: "ada@example.com",
        first_name: "Ada",
        last_name: "Lovelace",
        properties: { plan: { value: "pro", type: "string" } },
        segments: ["seg-1"],
        topics: { "top-1": "opt_in" as const },
      },
      { id: "c2", email: "gone@example.com", unsubscribed: true, segments: ["seg-1"], topics: { "top-1": "opt_in" as const } },
      { id: "c3", email: "out@example.com", topics: { "top-1": "opt_out" as const } },
      ...Array.from({ length: 120 }, (_, i) => ({ id: `p${i}`, email: `p${i}@example.com` })),
    ],
    suppressions: [
      { id: "s1", email: "bounced@example.com", origin: "bounce" },
      { id: "s2", email: "p7@example.com", origin: "complaint" },
    ],
    templates: [
      {
        id: "t1",
        name: "Welcome",
        alias: "welcome",
        subject: "Hello {{{NAME}}}",
        html: "<p>{{{NAME}}}</p>",
        variables: [{ key: "NAME", type: "string", fallback_value: "friend" }],
      },
      { id: "t2", name: "Loop", alias: "loop", subject: "s", html: "{{#each X}}x{{/each}}" },
    ],
  };

  test("contacts, segments, topics, suppressions and templates are moved within its limit of requests", async () => {
    const cli = await startCliWithServer();
    const service = fakeResend(FORMER_RESEND);
    const done = await beside(cli, service)(["import", "resend"]);
    expect([done.code, done.stderr]).toEqual([0, ""]);
    expect(readReport(done)).toEqual({
      lists: { read: 2, added: 2 },
      suppressions: { read: 2, added: 2 },
      people: { read: 123, added: 123 },
      memberships: { read: 5, added: 2, unchanged: 1, leftOut: 2 },
      templates: { read: 2, added: 1, leftOut: 1 },
    });
    const found = await people(cli);
    expect(found["ada@example.com"]).toMatchObject({ firstName: "Ada", status: "SUBSCRIBED", customFields: { plan: "pro" } });
    expect([found["gone@example.com"]?.status, found["p7@example.com"]?.status]).toEqual(["UNSUBSCRIBED", "COMPLAINED"]);
    expect([await members(cli, "Customers"), await members(cli, "News")]).toEqual([["ada@example.com"], ["ada@example.com"]]);
    const before = await everything(cli);
    expect(readReport(await beside(cli, service)(["import", "resend"]))).toMatchObject({ people: { read: 123, unchanged: 123 } });
    expect(await everything(cli)).toEqual(before);
    const welcome = await cli.world.sdk.templates.get((await cli.world.sdk.templates.list()).data[0]?.id ?? "");
    expect(welcome).toMatchObject({ slug: "welcome", subject: "Hello friend", variables: [{ name: "NAME", default: "friend" }] });
  });

  test("a service that cannot be reached is told after seconds, not after a minute", async () => {
    const cli = await startCliWithServer();
    let tries = 0;
    const unreachable = {
      ...fakeResend(FORMER_RESEND),
      fetch: async (): Promise<Response> => {
        tries += 1;
        throw new TypeError("fetch failed", { cause: { code: "ENOTFOUND" } });
      },
    };
    const failed = await beside(cli, unreachable)(["import", "resend"]);
    expect(failed).toMatchObject({ code: 10, stdout: "", stderr: expect.stringContaining("ENOTFOUND") });
    expect(tries).toBe(3);
  });

  test("a key that may only send, a key of this server and the server itself are refused", async () => {
    const cli = await startCliWithServer();
    const run = beside(cli, fakeResend(FORMER_RESEND));
    expect(await run(["import", "resend"], { env: { RESEND_API_KEY: "re_other" } })).toMatchObject({ code: 4, stdout: "" });
    expect(await run(["import", "resend"], { env: { RESEND_API_KEY: "ms_dev_1" } })).toMatchObject({ code: 2, stdout: "" });
    expect(await run(["import", "resend", "--from", `${cli.world.url}/resend`])).toMatchObject({ code: 2, stdout: "" });
    expect(await people(cli)).toEqual({});
  });
});
