import { expect, test } from "vitest";
import { besideServer } from "./world.ts";

const tty = { tty: { stdout: true, stderr: true }, env: { NO_COLOR: "1" }, columns: 120 };

test("an agent is listed, paid for, turned on, paused, resumed and cancelled from the command line", async () => {
  const { mailsvc } = await besideServer();
  const listing = ["--slug", "writer", "--name", "Launch Writer", "--webhook-url", "http://127.0.0.1:9/hook"];
  const made = await mailsvc(["listings", "create", ...listing, "--permission", "brand:read", "--permission", "agent:write_runs"], tty);
  expect(made.code, made.stderr).toBe(0);
  expect(made.stdout).toMatch(/state\s+DRAFT/);
  expect(made.stdout).toMatch(/price\s+29\.00 USD a month/);
  expect(made.stdout).toMatch(/\nwhsec_\S{44}\nAGENT_WEBHOOK_SECRET: keep it now/);

  const checkout = await mailsvc(["listings", "checkout", "writer"], tty);
  const next = /next\s+mailsvc (payments confirm pay_\w{26})/.exec(checkout.stdout)?.[1] ?? "";
  expect((await mailsvc(next.split(" "), tty)).stdout).toMatch(/state\s+PAID/);
  expect((await mailsvc(["listings", "list"], tty)).stdout).toMatch(/writer\s+Launch Writer\s+LISTED/);

  const offered = await mailsvc(["catalog", "get", "writer"], tty);
  expect(offered.stdout).toMatch(/It asks for:\nbrand:read\s+Read brand colors, logo and voice\n/);
  const few = await mailsvc(["activations", "create", "writer", "--accepted-permission", "brand:read"], tty);
  expect([few.code, few.stderr]).toMatchObject([3, expect.stringContaining("agent:write_runs")]);
  const on = await mailsvc([
    ...["activations", "create", "writer"],
    ...["--accepted-permission", "brand:read", "--accepted-permission", "agent:write_runs"],
  ]);
  const { id } = on.json as { id: string };
  expect((await mailsvc(["activations", "pause", id], tty)).stdout).toMatch(/state\s+paused: user_paused/);
  expect((await mailsvc(["activations", "list"], tty)).stdout).toContain("paused: user_paused");
  expect((await mailsvc(["activations", "resume", id], tty)).stdout).toMatch(/state\s+active/);
  expect((await mailsvc(["listings", "activations", "writer"], tty)).stdout).toMatch(/ORGANIZATION.*\n.*dev\s+active/);

  expect((await mailsvc(["plans", "preview", "--plan", "none"], tty)).stdout).toContain(id);
  expect((await mailsvc(["plans", "change", "free"], tty)).stdout).toMatch(/agents\s+1 of 1/);

  const unsure = await mailsvc(["listings", "cancel", "writer"]);
  expect([unsure.code, unsure.stderr]).toMatchObject([2, expect.stringContaining("--yes")]);
  expect((await mailsvc(["listings", "cancel", "writer", "--yes"], tty)).stdout).toMatch(/state\s+CANCELLED/);
  expect((await mailsvc(["activations", "get", id], tty)).stdout).toMatch(/because\s+admin_revoke/);
});

test("a brand is shown and changed; hostile names are shown harmless", async () => {
  const { world, mailsvc } = await besideServer();
  const changed = await mailsvc(["brand", "update", "--data", '{"colors":{"primary":"#112233"},"voice":{"tone":["calm","plain"]}}'], tty);
  expect(changed.stdout).toMatch(/colors\s+primary #112233/);
  expect(changed.stdout).toMatch(/tone\s+calm, plain/);
  await world.sdk.listings.create({ slug: "odd", name: "\u202eodd\u2028name", webhookUrl: "http://127.0.0.1:9/", permissions: [] });
  expect((await mailsvc(["listings", "get", "odd"], tty)).stdout).not.toMatch(/[\u202e\u2028]/);
});
