import { expect, test } from "vitest";
import { withAgent } from "../../server/test/agent-at-work.ts";
import { activateAgent, listAgent } from "../../server/test/marketplace.ts";
import { measureWidth } from "../src/text/width.ts";
import { cli, TERMINAL } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const tty = { tty: { stdout: true, stderr: true }, env: { NO_COLOR: "1" }, columns: 80 };
const NOWHERE = "http://127.0.0.1:9/hook";

test("an empty list says where to begin, and a filter that nothing fits says so", async () => {
  const { mailsvc } = await startCliWithServer();
  const said = async (...argv: string[]): Promise<string> => (await mailsvc(argv, tty)).stderr;
  expect(await said("listings", "list")).toBe("No listings yet. Create one: mailsvc listings create --help\n");
  expect(await said("activations", "list")).toContain("mailsvc catalog list");
  expect(await said("activations", "list", "--status", "paused")).toBe("No matches.\n");
  expect(await said("messages", "inbox")).toBe("No open requests.\n");
});

test("a page that is not the last says how the next is called, with all that was asked for", async () => {
  const { world, mailsvc } = await startCliWithServer();
  for (const slug of ["one", "two", "three"]) await listAgent(world.sdk, NOWHERE, { slug });
  const { stderr } = await mailsvc(["payments", "list", "--limit", "2"], tty);
  expect(stderr).toContain("Page 1 of 2, 3 in total. Next: mailsvc payments list --page 2 --limit 2, or all pages: --all");
});

test("instants say that they are UTC, and no line of a list is wider than the terminal", async () => {
  const { world, mailsvc } = await startCliWithServer();
  await listAgent(world.sdk, NOWHERE);
  const { id } = await activateAgent(world.sdk);
  expect((await mailsvc(["activations", "get", id], tty)).stdout).toMatch(/since +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\n/);
  await world.sdk.activations.pause(id);
  for (const argv of [
    ["payments", "list"],
    ["activations", "list"],
    ["listings", "activations", "writer"],
    ["deliveries", "list", "writer"],
  ]) {
    const { stdout } = await mailsvc(argv, tty);
    expect(stdout.split("\n").length).toBeGreaterThan(2);
    for (const line of stdout.split("\n")) expect(measureWidth(line), line).toBeLessThanOrEqual(80);
  }
});

test("a webhook that fails its test is exit 11, and an event that failed shows why and how to send it again", async () => {
  const { world, mailsvc } = await startCliWithServer();
  await listAgent(world.sdk, NOWHERE);
  const tested = await mailsvc(["deliveries", "test", "writer"], tty);
  expect([tested.code, tested.stdout]).toEqual([11, expect.stringMatching(/^connection {2}\d+ ms\n/)]);
  await activateAgent(world.sdk);
  await world.clock.advance("4d");
  const listed = await mailsvc(["deliveries", "list", "writer"], tty);
  const next = /next {2}mailsvc (deliveries get writer evt_\w{26})\n/.exec(listed.stderr)?.[1] ?? "";
  const dead = await mailsvc(next.split(" "), tty);
  expect(dead.stdout).toMatch(/\n {2}"type": "agent\.activated",\n/);
  const again = /next +mailsvc (deliveries redeliver writer evt_\w{26})\n/.exec(dead.stdout)?.[1] ?? "";
  expect((await mailsvc(again.split(" "), tty)).code).toBe(11);
  const tab = await mailsvc(["listings", "activations", "writer"], tty);
  expect(tab.stderr).toMatch(/next {2}mailsvc deliveries test writer, and when it works: mailsvc listings resume writer act_\w{26}\n/);
  // agent.activated, which was never delivered, goes before agent.resumed.
  const recovered = await mailsvc(["deliveries", "recover", "writer"], tty);
  expect(recovered.stdout).toBe("2 deliveries go out now, in order. 1 activation is no longer paused for the failing webhook.\n");
});

test("the refusal of an agent's key names the next step", async () => {
  const { world, mailsvc } = await startCliWithServer();
  await using made = await withAgent(world, ["agent:write_runs"]);
  const { key, activationId } = made.agent;
  const as = { ...tty, env: { NO_COLOR: "1", MAILSVC_AGENT_KEY: key, MAILSVC_ACTIVATION_ID: activationId } };
  const started = await mailsvc(["agent", "runs", "start"], as);
  expect(started.stdout).toMatch(/next +mailsvc agent runs log run_\w{26}/);
  await world.sdk.activations.pause(activationId);
  expect((await mailsvc(["agent", "whoami"], as)).stderr).toContain("try mailsvc activations list (its brand resumes it)");
  await world.sdk.activations.deactivate(activationId);
  const revoked = await mailsvc(["agent", "whoami"], as);
  expect(revoked.stderr).toContain("try mailsvc activations create");
  expect(revoked.stderr).not.toContain("mailsvc login");
});

test("a run is logged in words, or as entries in JSON", async () => {
  const { world, mailsvc } = await startCliWithServer();
  await using made = await withAgent(world, ["agent:write_runs", "agent:read_runs"]);
  const env = { MAILSVC_AGENT_KEY: made.agent.key, MAILSVC_ACTIVATION_ID: made.agent.activationId };
  const log = (...argv: string[]) => mailsvc(["agent", "runs", "log", "run-spring", ...argv], { env });
  await mailsvc(["agent", "runs", "start", "--run-id", "run-spring"], { env });
  expect(
    (await log("-m", "One", "--message", "Two", "--entries", '[{"message":"Zero","level":"warn"}]', "--percent", "40")).json.accepted,
  ).toBe(3);
  expect((await log("--percent", "60", "--progress", '{"percent":1,"label":"drafting"}')).code).toBe(0);
  const { runId, progress } = (await mailsvc(["agent", "runs", "get", "run-spring"], { env })).json;
  expect([runId, progress]).toEqual(["run-spring", { percent: 60, label: "drafting" }]);
  const { data } = (await mailsvc(["agent", "runs", "logs", "run-spring"], { env })).json;
  expect(data.map((e: { message: string }) => e.message).sort()).toEqual(["One", "Two", "Zero"]);
  expect((await log("--percent", "half")).stderr).toContain('--percent: "half" is not a number.');
  expect([(await log("--percent", "140")).code, (await log("--data", '{"entries":7}', "-m", "x")).code]).toEqual([3, 3]);
});

test("yes or no to a question with its own options is told how it is answered, and a late answer where to look", async () => {
  const { world, mailsvc } = await startCliWithServer();
  await using made = await withAgent(world, ["agent:post_messages"]);
  const options = [
    { id: "red", label: "Red" },
    { id: "blue", label: "Blue" },
  ];
  const { id } = await made.agent.client.messages.create({
    type: "APPROVAL_REQUEST",
    text: "Which?",
    approval: { title: "Which?", options },
  });
  const unfit = await mailsvc(["approvals", "approve", id], tty);
  expect([unfit.code, unfit.stderr]).toEqual([3, expect.stringContaining(`try mailsvc messages answer ${id} <decision>`)]);
  await mailsvc(["messages", "answer", id, "blue"], tty);
  const late = await mailsvc(["approvals", "reject", id], tty);
  expect([late.code, late.stderr]).toEqual([7, expect.stringContaining(`try mailsvc messages get ${id}\n`)]);
});

test("what stands twice leads to what is there", async () => {
  const { world, mailsvc } = await startCliWithServer();
  await listAgent(world.sdk, NOWHERE);
  const { id } = await activateAgent(world.sdk);
  const twice = await mailsvc(["activations", "create", "writer", "--yes"], tty);
  expect([twice.code, twice.stderr]).toEqual([7, expect.stringContaining(`try mailsvc activations get ${id}\n`)]);
});

test("a plan that turns agents off for good is asked about first; --yes and what can be taken back are not", async () => {
  const { world, mailsvc } = await startCliWithServer();
  await listAgent(world.sdk, NOWHERE);
  const { id } = await activateAgent(world.sdk);
  const unasked = await mailsvc(["plans", "change", "none"]);
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining(`1 agent would be deactivated: ${id}. Add --yes`)]);
  const no = await mailsvc(["plans", "change", "none"], { tty: TERMINAL, env: { NO_COLOR: "1" }, answers: ["n"] });
  expect(no.code).toBe(130);
  expect((await world.sdk.activations.get(id)).status).toBe("active");
  expect((await mailsvc(["plans", "change", "free"])).code).toBe(0);
  expect((await mailsvc(["plans", "change", "none", "--yes"])).code).toBe(0);
  expect((await world.sdk.activations.get(id)).status).toBe("deactivated");
});

test("arguments say what they are: in usage, in help, in what is missing and in completion", async () => {
  const missing = await cli(["runs", "list"]);
  expect([missing.code, missing.stderr]).toEqual([
    2,
    expect.stringMatching(/'activationId'\.\nUsage: mailsvc runs list \[options\] <activationId>\n.*mailsvc activations list/),
  ]);
  const { stdout } = await cli(["agent", "runs", "log", "--help"]);
  expect(stdout).toMatch(/^Usage: mailsvc agent runs log \[options\] <runId>\n/);
  expect(stdout).toMatch(/--run-id <id> +The same as <runId>\n/);
  expect((await cli(["messages", "--help"])).stdout).toMatch(/create <activationId> <text> /);
  expect((await cli(["__complete", "--", "plans", "change", ""])).stdout).toBe(
    "none\tplan\nfree\tplan\nstarter\tplan\ngrowth\tplan\nscale\tplan\n",
  );
});
