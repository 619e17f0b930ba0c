import { expect, test } from "vitest";
import { createTestAgent } from "../../server/test/agent.ts";
import { startCliWithServer } from "./world.ts";

const tty = { tty: { stdout: true, stderr: true }, env: { NO_COLOR: "1" }, columns: 110 };

test("a list is made, filled, asked to confirm, shown and emptied from the command line", async () => {
  const { world, mailsvc } = await startCliWithServer();
  for (const email of ["ada@example.com", "bob@example.com"]) await world.sdk.contacts.create({ email, firstName: "A", lastName: "B" });
  const made = await mailsvc(["lists", "create", "Newsletter", "--double-opt-in", "--confirmation-from", "Acme <hello@acme.test>"]);
  expect(made.json).toMatchObject({ name: "Newsletter", doubleOptIn: true, memberCount: 0 });
  const { id } = made.json as { id: string };

  const added = await mailsvc(["lists", "add", id, "ada@example.com,nobody@example.com"], tty);
  expect(added.code).toBe(11);
  expect(added.stdout).toMatch(/to confirm\s+1/);
  expect(added.stderr).toContain("nobody@example.com");
  expect(added.stderr).toContain("Contact not found");

  const pending = await mailsvc(["lists", "contacts", id, "--status", "PENDING"], tty);
  expect(pending.stdout).toMatch(/ada@example\.com\s+A B\s+PENDING/);
  expect((await mailsvc(["lists", "resend", id, "ada@example.com"], tty)).stdout).toContain("link expires");
  expect((await mailsvc(["lists", "list"], tty)).stdout).toMatch(/Newsletter\s+0\s+1\s+yes/);
  expect((await mailsvc(["lists", "remove", id, "ada@example.com"])).json).toEqual({ removed: 1, failed: [] });
  expect((await mailsvc(["lists", "get", id], tty)).stdout).toMatch(/pending\s+0/);
});

test("a segment is previewed, made and shown from the command line; its faults name the place", async () => {
  const { world, mailsvc } = await startCliWithServer();
  await world.sdk.contacts.create({ email: "ada@example.com", tags: ["vip"] });
  const rules = { all: [{ field: "tags", operator: "contains", value: "vip" }, { not: { field: "phone", operator: "exists" } }] };
  const preview = await mailsvc(["segments", "preview", "--rules", JSON.stringify(rules)], tty);
  expect(preview.stdout).toMatch(/^1 contact:/);
  expect(preview.stdout).toContain("ada@example.com");
  const made = await mailsvc(["segments", "create", "--name", "VIPs", "--rules", "-"], { stdin: JSON.stringify(rules) });
  expect(made.code).toBe(0);
  await world.settle();
  const shown = await mailsvc(["segments", "get", made.json.id], tty);
  expect(shown.stdout).toMatch(/members\s+1/);
  expect(shown.stdout).toContain('all of\n    tags contains "vip"\n    not\n      phone exists');
  expect((await mailsvc(["segments", "contacts", made.json.id], tty)).stdout).toContain("ada@example.com");
  const wrong = { any: [rules, { field: "email", operator: "contains", value: 5 }] };
  const refused = await mailsvc(["segments", "create", "--name", "x", "--rules", JSON.stringify(wrong)], tty);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain("any[1].value");
});

test("suppressions are noted, looked through and lifted from the command line", async () => {
  const { world, mailsvc } = await startCliWithServer();
  expect((await mailsvc(["suppressions", "create", "ada@example.com", "--note", "by phone"], tty)).stdout).toContain("all: no mail at all");
  await world.sdk.suppressions.import({ entries: [{ email: "bob@example.com", scope: "marketing", reason: "unsubscribe" }] });
  expect((await mailsvc(["suppressions", "list", "--search", "ADA"], tty)).stdout).toMatch(
    /ada@example\.com\s+manual\s+all\s+api\s+by phone/,
  );
  expect((await mailsvc(["suppressions", "get", "bob@example.com"], tty)).stdout).toContain("marketing: transactional mail only");
  for (const reason of ["unsubscribe", "bounce"] as const) await world.sdk.suppressions.create({ email: "carol@example.com", reason });
  for (const stays of [true, false]) {
    const { stdout } = await mailsvc(["suppressions", "remove", "carol@example.com"], tty);
    expect(stdout.includes("marketing mail stays suppressed")).toBe(stays);
  }
  const gone = await mailsvc(["suppressions", "remove", "bob@example.com,nobody@example.com"], tty);
  expect([gone.code, gone.stdout]).toMatchObject([11, expect.stringMatching(/removed\s+1/)]);
  expect(gone.stderr).toContain("nobody@example.com");
});

test("a person is shown with sign-ups, automations and emails, and erased from the command line", async () => {
  const { world, mailsvc } = await startCliWithServer();
  const agent = await createTestAgent(world);
  const page = await agent.call("POST", "/landing-pages", { title: "Join", html: "<form></form>", status: "PUBLISHED" });
  const automation = await world.sdk.automations.create({
    name: "Welcome",
    trigger: { type: "contact.created" },
    steps: [{ id: "wait", type: "delay", for: "3d" }],
    connections: [{ from: "trigger", to: "wait" }],
  });
  await world.sdk.automations.activate(automation.id);
  await world.fetch(page.body.url, { method: "POST", body: new URLSearchParams({ email: "ada@example.com" }) });
  await world.sdk.emails.send({ from: "a@acme.test", to: "ada@example.com", subject: "Your order", text: "Thanks" });
  await world.settle();
  const { stdout } = await mailsvc(["people", "get", "ada@example.com"], tty);
  expect(stdout).toMatch(new RegExp(`Sign-ups\\n.+\\n *${page.body.id}`));
  expect(stdout).toMatch(/Automations\n.+\n *Welcome\s+ACTIVE/);
  expect(stdout).toMatch(/Emails\n.+\n.+Your order/);
  expect((await mailsvc(["people", "erase", "ada@example.com", "--yes"], tty)).stdout).toContain("erased 1 contacts, 1 emails");
});
