import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { folder } from "./harness.ts";
import { everything, people, readReport } from "./moved.ts";
import { startCliWithServer } from "./world.ts";

describe("from Mailchimp", () => {
  const HEAD = "Email Address,First Name,Last Name,Company,MEMBER_RATING,OPTIN_TIME,TAGS";
  const FILES = {
    "subscribed_email_audience_export_1.csv": `${HEAD}\nada@example.com,Ada,Lovelace,Acme,2,2026-01-01 00:00:00,"""VIP"",""Beta, closed"""\nboth@example.com,,,,2,,\n`,
    "unsubscribed_email_audience_export_1.csv": `${HEAD},UNSUB_TIME\nBoth@example.com,Bo,,,2,,,2026-02-01 00:00:00\nno@example.com,,,,2,,,2026-02-01 00:00:00\n`,
    "cleaned_email_audience_export_1.csv": `${HEAD},CLEAN_TIME\ndead@example.com,,,,1,,,2026-02-01 00:00:00\n`,
    "nonsubscribed_email_audience_export_1.csv": `${HEAD}\nbuyer@example.com,Buy,,,1,,\nada@example.com,,,,1,,\nbroken,a,b,c,d,e,f,g\n`,
    "templates/Spring_Sale.html": '<p>Hi *|FNAME|*</p><a href="*|UNSUB|*">no</a>',
    "templates/Clever.html": "*|IF:VIP|*x*|END:IF|*",
  };
  const STATUSES = {
    "ada@example.com": "SUBSCRIBED",
    "both@example.com": "UNSUBSCRIBED",
    "no@example.com": "UNSUBSCRIBED",
    "dead@example.com": "BOUNCED",
    "buyer@example.com": "UNSUBSCRIBED",
  };

  test("an archive is moved: a no counts more than a yes, whichever file has it", async () => {
    const cli = await startCliWithServer();
    const cwd = folder();
    const archive = zipSync(Object.fromEntries(Object.entries(FILES).map(([name, text]) => [name, new TextEncoder().encode(text)])));
    writeFileSync(join(cwd, "export.zip"), archive);
    const importing = ["import", "mailchimp", "export.zip", "--list", "Newsletter"];
    const done = await cli.mailsvc(importing, { cwd });
    expect([done.code, done.stderr]).toEqual([11, ""]);
    expect(readReport(done)).toEqual({
      lists: { read: 1, added: 1 },
      suppressions: { read: 1, added: 1 },
      people: { read: 8, added: 5, unchanged: 2, failed: 1 },
      memberships: { read: 2, added: 2 },
      templates: { read: 2, added: 1, leftOut: 1 },
    });
    const found = await people(cli);
    expect(Object.fromEntries(Object.entries(found).map(([email, { status }]) => [email, status]))).toEqual(STATUSES);
    expect(found["ada@example.com"]).toMatchObject({
      lastName: "Lovelace",
      tags: ["VIP", "Beta, closed"],
      customFields: { Company: "Acme" },
    });
    const before = await everything(cli);
    await cli.mailsvc(importing, { cwd });
    expect(await everything(cli)).toEqual(before);
  });

  test("a folder and single files give the same; a missing file of those who said no is told", async () => {
    const cli = await startCliWithServer();
    const cwd = folder();
    mkdirSync(join(cwd, "all/templates"), { recursive: true });
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(cwd, "all", name), text);
    const done = await cli.mailsvc(["import", "mailchimp", "all", "--list", "Newsletter"], { cwd });
    expect(readReport(done)).toMatchObject({ people: { read: 8 }, templates: { read: 2 } });
    const part = await cli.mailsvc(["import", "mailchimp", "all/subscribed_email_audience_export_1.csv"], { cwd });
    expect(part.json.remarks).toEqual([expect.stringContaining("unsubscribed")]);
    expect(await cli.mailsvc(["import", "mailchimp", "all/templates"], { cwd })).toMatchObject({ code: 2, stdout: "" });
    writeFileSync(join(cwd, "bad.zip"), "no archive");
    expect(await cli.mailsvc(["import", "mailchimp", "bad.zip"], { cwd })).toMatchObject({ code: 2, stdout: "" });
    writeFileSync(join(cwd, "subscribed_x.csv"), "mail;name\n");
    expect(await cli.mailsvc(["import", "mailchimp", "subscribed_x.csv"], { cwd })).toMatchObject({ code: 3 });
  });
});
