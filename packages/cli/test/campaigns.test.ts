import { expect, test } from "vitest";
import { startCliWithServer } from "./world.ts";

const tty = { tty: { stdout: true, stderr: true }, env: { NO_COLOR: "1", CI: "1" }, columns: 110 };

test("a campaign is made by the names of its list and template, tested, sent and looked at", async () => {
  const { world, mailsvc } = await startCliWithServer();
  const { sdk } = world;
  const names = ["delivered", "opened", "clicked", "bounced"];
  const emails = names.map((name) => `${name}@simulator.mailsvc.test`);
  await sdk.contacts.import({ rows: emails.map((email, i) => ({ email, firstName: names[i] })) });
  const list = await sdk.lists.create({ name: "Newsletter" });
  await sdk.lists.add(list.id, { contacts: emails });
  await sdk.templates.create({ name: "News", type: "marketing", subject: "s", html: "<p>Hi {{firstName}}</p>", publish: true });
  const fields = ["--name", "Launch", "--subject-line", "We are live", "--from-email", "news@acme.test"];
  const made = await mailsvc(["campaigns", "create", ...fields, "--template", "news", "--list", "newsletter"]);
  expect(made.json).toMatchObject({ status: "DRAFT", recipientType: "list", list: { id: list.id }, template: { slug: "news" } });
  expect((await mailsvc(["campaigns", "list"], tty)).stdout).toMatch(/Launch\s+DRAFT\s+list\s+We are live/);
  expect((await mailsvc(["campaigns", "update", "Launch", "--from-name", "Acme"], tty)).stdout).toMatch(/from\s+Acme <news@acme\.test>/);
  expect((await mailsvc(["campaigns", "test", "Launch", "--to", "me@acme.test"])).json).toMatchObject({ count: 1 });
  const test = await mailsvc(["campaigns", "test", "Launch", "--to", "me@acme.test", "--contact", "opened@simulator.mailsvc.test"]);
  expect(test.json).toMatchObject({ count: 1 });
  expect((await sdk.emails.list({ to: "me@acme.test" })).data).toHaveLength(2);
  const preview = ["campaigns", "preview", "Launch", "--contact", "opened@simulator.mailsvc.test"];
  expect((await mailsvc(preview, tty)).stdout).toMatch(/^We are live\n\nHi opened/);
  expect((await mailsvc([...preview, "--html"])).stdout).toContain("<p>Hi opened</p>");
  expect((await mailsvc([...preview, "--text"])).stdout).toContain("Hi opened");
  expect((await mailsvc(["campaigns", "preview", "Launch", "--contact", "nobody@acme.test"])).stderr).toContain("not_found");
  const sent = await mailsvc(["campaigns", "send", "Launch", "--yes", "--watch"], tty);
  expect(sent.code).toBe(0);
  expect(sent.stdout).toMatch(/SENT {2}4 recipients: {2}delivered 3 {3}bounced 1/);
  await world.clock.advance("10s");
  const stats = await mailsvc(["campaigns", "stats", "Launch"], tty);
  expect(stats.stdout).toMatch(/delivered\s+3\s+75\.0 %\s+4 attempted/);
  expect(stats.stdout).toMatch(/opened\s+2\s+66\.7 %\s+3 accepted/);
  expect((await mailsvc(["campaigns", "recipients", "Launch", "--status", "bounced"], tty)).stdout).toMatch(
    /bounced@\S+\s+bounced\s+550 5\.1\.1|No such user/,
  );
  const csv = (await mailsvc(["campaigns", "recipients", "Launch", "--csv"])).stdout.trimEnd().split("\n");
  expect(csv[0]).toMatch(/^emailId,contactId,to,status,skipReason,/);
  expect(csv.slice(1).map((line) => line.split(",").slice(2, 4).join(" "))).toEqual(
    emails.map((email, i) => `${email} ${names[i] === "bounced" ? "bounced" : "delivered"}`).toReversed(),
  );
  expect((await mailsvc(["campaigns", "recipients", "Launch", "--csv", "--status", "bounced"])).stdout.trimEnd().split("\n")).toHaveLength(
    2,
  );
  const file = await mailsvc(["campaigns", "recipients", "Launch", "--csv", "--output", "sent.csv"]);
  expect(file.json).toMatchObject({ recipients: 4, file: expect.stringMatching(/sent\.csv$/) });
  expect((await mailsvc(["campaigns", "recipients", "Launch", "--output", "sent.csv"])).code).toBe(2);
  expect((await mailsvc(["campaigns", "verify", "Launch"], tty)).stdout).toContain("correct  4 recipients counted anew");
  expect((await mailsvc(["campaigns", "send", "Launch", "--yes"])).code).not.toBe(0);
});

test("an unknown name is refused by the server, and two ways to name one thing by the command", async () => {
  const { mailsvc } = await startCliWithServer();
  const fields = ["--name", "Launch", "--subject-line", "We are live", "--from-email", "news@acme.test", "--text", "Hi"];
  const unknown = await mailsvc(["campaigns", "create", ...fields, "--list", "Nobody"]);
  expect(unknown.stderr).toContain("not_found");
  const twice = await mailsvc(["campaigns", "create", ...fields, "--list", "A", "--list-id", "B"]);
  expect(twice.code).toBe(2);
});

test("several lists and segments are given by name, with those that are left out", async () => {
  const { world, mailsvc } = await startCliWithServer();
  const { sdk } = world;
  const news = await sdk.lists.create({ name: "News" });
  const beta = await sdk.lists.create({ name: "Beta" });
  const vip = await sdk.segments.create({ name: "VIP", rules: { field: "tags", operator: "contains", value: "vip" } });
  const fields = ["--name", "Launch", "--subject-line", "We are live", "--from-email", "news@acme.test", "--text", "Hi"];
  const groups = ["--list", "news", "--list", "Beta", "--segment", "vip"];
  const made = await mailsvc(["campaigns", "create", ...fields, ...groups, "--exclude-list", "beta", "--exclude-segment", "VIP"]);
  expect(made.json).toMatchObject({ recipientType: "groups", include: [news.id, beta.id, vip.id], exclude: [beta.id, vip.id] });
  const shown = (await mailsvc(["campaigns", "get", "Launch"], tty)).stdout;
  expect(shown).toMatch(/recipients\s+list News \(0\), list Beta \(0\), segment VIP \(0\)/);
  expect(shown).toMatch(/excluded\s+list Beta \(0\), segment VIP \(0\)/);
  await mailsvc(["campaigns", "send", "Launch", "--yes"]);
  const again = await mailsvc(["campaigns", "resend", "Launch", "--to", "not_opened"], tty);
  expect(again.stdout).toMatch(/recipients\s+who did not open cmp_/);
});
