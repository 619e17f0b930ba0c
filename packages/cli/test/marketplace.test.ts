import { expect, test } from "vitest";
import { withAgent } from "../../server/test/agent-at-work.ts";
import { activateAgent, listAgent } from "../../server/test/marketplace.ts";
import { TERMINAL } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const tty = { tty: { stdout: true, stderr: true }, env: { NO_COLOR: "1" }, columns: 120 };

test("an agent is listed, paid for, turned on, paused, resumed and cancelled from the command line", async () => {
  const { mailsvc } = await startCliWithServer();
  const listing = ["--slug", "writer", "--name", "Launch Writer", "--webhook-url", "http://127.0.0.1:9/hook"];
  const made = await mailsvc(["listings", "create", ...listing, "--permission", "brand:read", "--permission", "agent:write_runs"], tty);
  expect(made.code, made.stderr).toBe(0);
  expect(made.stdout).toMatch(/state\s+DRAFT/);
  expect(made.stdout).toMatch(/price\s+29\.00 USD a month/);
  expect(made.stdout).toMatch(/\nwhsec_\S{44}\nAGENT_WEBHOOK_SECRET: store it now/);

  const checkout = await mailsvc(["listings", "checkout", "writer"], tty);
  const next = /next\s+mailsvc (payments confirm pay_\w{26})/.exec(checkout.stdout)?.[1] ?? "";
  expect((await mailsvc(next.split(" "), tty)).stdout).toMatch(/state\s+PAID/);
  expect((await mailsvc(["listings", "list"], tty)).stdout).toMatch(/writer\s+Launch Writer\s+LISTED/);

  const offered = await mailsvc(["catalog", "get", "writer"], tty);
  expect(offered.stdout).toMatch(/\nbuilder +brand\nprice +free; it spends your credits\n/);
  expect(offered.stdout).toMatch(/Permissions:\nbrand:read\s+Read brand colors, logo and voice\n/);
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
  expect((await mailsvc(["listings", "activations", "writer"], tty)).stdout).toMatch(/BRAND.*\n.*brand\s+active/);

  expect((await mailsvc(["plans", "preview", "--plan", "none"], tty)).stdout).toContain(id);
  expect((await mailsvc(["plans", "change", "free"], tty)).stdout).toMatch(/agents\s+1 of 1/);

  const unsure = await mailsvc(["listings", "cancel", "writer"]);
  expect([unsure.code, unsure.stderr]).toMatchObject([2, expect.stringContaining("--yes")]);
  expect((await mailsvc(["listings", "cancel", "writer", "--yes"], tty)).stdout).toMatch(/state\s+CANCELLED/);
  expect((await mailsvc(["activations", "get", id], tty)).stdout).toMatch(/because\s+admin_revoke/);
});

test("turning an agent on shows what it asks for and asks once; --yes agrees, and without a terminal it is said what to name", async () => {
  const { world, mailsvc } = await startCliWithServer();
  await listAgent(world.sdk, "http://127.0.0.1:9/hook", { permissions: ["brand:read", "agent:write_runs"] });
  const create = ["activations", "create", "writer"];
  const unasked = await mailsvc(create);
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining("writer asks for: brand:read, agent:write_runs.")]);
  const no = await mailsvc(create, { tty: TERMINAL, env: { NO_COLOR: "1" }, answers: ["n"] });
  expect([no.code, no.stderr]).toEqual([
    130,
    expect.stringMatching(/The writer asks for:\nbrand:read +Read brand colors, logo and voice\n/),
  ]);
  expect((await world.sdk.activations.list()).pagination.total).toBe(0);
  const yes = await mailsvc(create, { tty: TERMINAL, env: { NO_COLOR: "1" }, answers: ["y"] });
  expect([yes.code, yes.stdout]).toEqual([0, expect.stringMatching(/may +brand:read, agent:write_runs\n/)]);
  await world.sdk.activations.deactivate((await world.sdk.activations.list({ status: "active" })).data[0]?.id ?? "");
  expect((await mailsvc([...create, "--yes"])).json).toMatchObject({ scopes: ["brand:read", "agent:write_runs"] });
});

test("each state says what leads on from it, and what failed says where to look", async () => {
  const { world, mailsvc } = await startCliWithServer();
  const listing = ["--slug", "writer", "--name", "W", "--webhook-url", "http://127.0.0.1:9/hook", "--permission", "brand:read"];
  expect((await mailsvc(["listings", "create", ...listing], tty)).stdout).toMatch(/next +mailsvc listings checkout writer/);
  await world.sdk.payments.confirm((await world.sdk.listings.checkout("writer")).id);
  expect((await mailsvc(["catalog", "get", "writer"], tty)).stdout).toMatch(/\nnext +mailsvc activations create writer\n/);
  const { id } = await activateAgent(world.sdk);
  expect((await mailsvc(["activations", "pause", id], tty)).stdout).toMatch(new RegExp(`next +mailsvc activations resume ${id}`));
  await world.sdk.activations.update(id, { creditLimit: 5 });
  expect((await mailsvc(["activations", "update", id, "--credit-limit", "null"])).json).toMatchObject({ creditLimit: null });
  const lost = await mailsvc(["messages", "list", "act_x"], tty);
  expect([lost.code, lost.stderr]).toEqual([6, expect.stringContaining("try mailsvc activations list")]);
  const wrong = await mailsvc(["agent", "runs", "log", "--flag"], tty);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("try mailsvc agent runs log --help")]);
});

test("what an agent may not do is told in its terms", async () => {
  const { world, mailsvc } = await startCliWithServer();
  await using made = await withAgent(world, ["agent:write_runs"]);
  const as = { ...tty, env: { NO_COLOR: "1", MAILSVC_AGENT_KEY: made.agent.key, MAILSVC_ACTIVATION_ID: made.agent.activationId } };
  const refused = await mailsvc(["agent", "lists", "list"], as);
  expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining("try mailsvc agent whoami")]);
  expect(refused.stderr).toContain("An agent has only the permissions its brand accepted");
  expect((await mailsvc(["agent", "whoami"], as)).stdout).toMatch(/works for +brand\nstate +active\nmay +agent:write_runs\n/);
  expect((await mailsvc(["agent", "runs", "start", "--run-id", "run-spring"], as)).code).toBe(0);
  expect((await mailsvc(["agent", "runs", "log", "run-spring"], as)).stdout).toMatch(/^RUNNING 0 entries kept/);
  expect((await mailsvc(["agent", "--help"], as)).stdout).toMatch(/lists +The brand's lists/);
});

test("a brand is shown and changed; hostile texts are shown harmless", async () => {
  const { world, mailsvc } = await startCliWithServer();
  const changed = await mailsvc(["brand", "update", "--data", '{"colors":{"primary":"#112233"},"voice":{"tone":["calm","plain"]}}'], tty);
  expect(changed.stdout).toMatch(/colors\s+primary #112233/);
  expect(changed.stdout).toMatch(/tone\s+calm, plain/);
  const odd = { slug: "odd", name: "Odd", description: "\u202eodd\u2028name", webhookUrl: "http://127.0.0.1:9/", permissions: [] };
  await world.sdk.listings.create(odd);
  expect((await mailsvc(["listings", "get", "odd"], tty)).stdout).not.toMatch(/[\u202e\u2028]/);
});
