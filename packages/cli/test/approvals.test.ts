import { expect, test } from "vitest";
import { withAgent } from "../../server/test/agent-at-work.ts";
import { startCliWithServer } from "./world.ts";

const tty = { tty: { stdout: true, stderr: true }, env: { NO_COLOR: "1" }, columns: 160 };

test("what agents ask is listed, approved and rejected from the command line", async () => {
  const { world, mailsvc } = await startCliWithServer();
  await using made = await withAgent(world);
  const { client } = made.agent;
  const ask = (title: string, also: object = {}) =>
    client.messages.create({ type: "APPROVAL_REQUEST", text: `About ${title}`, approval: { title, ...also } });
  const [yes, no, colour] = [
    await ask("the page"),
    await ask("the mail"),
    await ask("the colour", { options: ["red", "blue"].map((id) => ({ id, label: id })) }),
  ];
  await client.messages.create({ text: "Hello" });
  const list = await mailsvc(["approvals", "list"], tty);
  expect(list.stdout).toMatch(/^ID +AGENT +ASKS +STATE +OPTIONS +UNTIL \(UTC\)\n/);
  expect(list.stdout.split("\n").slice(1, 4)).toEqual([
    expect.stringMatching(new RegExp(`^${colour.id} +writer +the colour +PENDING +red, blue +2026-01-08 00:00:00$`)),
    expect.stringMatching(new RegExp(`^${no.id} +writer +the mail +PENDING +approve, reject`)),
    expect.stringMatching(new RegExp(`^${yes.id} +writer +the page`)),
  ]);
  expect((await mailsvc(["messages", "inbox"], tty)).stdout).toMatch(/^ID +AGENT +WHAT +TEXT.*\n.* writer +text +Hello/);

  expect((await mailsvc(["approvals", "approve", yes.id, "--comment", "Nice."], tty)).stdout).toMatch(
    /decision\s+approved\s+comment\s+Nice\./,
  );
  expect((await mailsvc(["approvals", "reject", no.id])).json).toMatchObject({ approval: { status: "REJECTED" } });
  const other = await mailsvc(["approvals", "approve", colour.id], tty);
  expect([other.code, other.stderr]).toEqual([3, expect.stringContaining("Use one of: red, blue.")]);
  expect((await mailsvc(["messages", "answer", colour.id, "blue"])).json).toMatchObject({ approval: { decision: "blue" } });
  const late = await mailsvc(["approvals", "reject", yes.id], tty);
  expect([late.code, late.stderr]).toEqual([7, expect.stringContaining("This request is APPROVED")]);
  expect((await mailsvc(["approvals", "list"], tty)).stderr).toContain("No open requests.");
  expect((await mailsvc(["approvals", "list", "--status", "REJECTED"])).json.data).toMatchObject([{ id: no.id }]);
});

test("help names the two answers and how to give them; an unknown id leads back to the list", async () => {
  const { mailsvc } = await startCliWithServer();
  expect((await mailsvc(["approvals", "--help"])).stdout).toMatch(/approve <id>.*\n.*reject <id>/);
  const help = await mailsvc(["approvals", "reject", "--help"]);
  expect(help.stdout).toMatch(/Examples:\n {2}mailsvc approvals reject msg_\w+ --comment 'Too early: ask again on Monday\.'/);
  expect(help.stdout).not.toContain("--decision");
  const lost = await mailsvc(["approvals", "approve", "msg_x"], tty);
  expect([lost.code, lost.stderr]).toEqual([6, expect.stringContaining("mailsvc messages list")]);
});
