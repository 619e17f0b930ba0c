import { expect, test } from "vitest";
import { perform } from "../test/perform.ts";

const CAMPAIGN = { name: "Greeting", subject: "Hello {{firstName}}", html: "<p>Good to have you here, {{firstName}}.</p>" };

test.each(["inline", "inbox"] as const)("a proposal waits (%s), is made a draft once, and tells the agent the decision", async (mode) => {
  const { market, activation } = await perform(
    async (run) => {
      const first = await run.proposeCampaign("greeting", { text: "A greeting.", campaign: CAMPAIGN });
      const second = await run.proposeTemplate("receipt", {
        text: "A receipt.",
        template: { name: "Receipt", subject: "Thanks", text: "Paid." },
      });
      const third = await run.proposeCampaign("sale", { text: "A sale.", campaign: { ...CAMPAIGN, name: "Sale" } });
      return { summary: [first, second, third].map(({ decision }) => decision).join(), output: Object.keys(first) };
    },
    { mode },
  );
  await activation.answer("approve");
  await market.advance("2d");
  await activation.answer("approve");
  await activation.answer("reject", "No sale now.");
  const done = await market.until("the end", async () => (await activation.runs()).find(({ status }) => status === "COMPLETED"));
  expect(done).toMatchObject({ summary: "approved,approved,rejected", output: ["decision", "approved", "comment", "messageId"] });
  expect(await activation.proposed()).toMatchObject([
    { kind: "campaign", name: "Greeting", subject: CAMPAIGN.subject, html: CAMPAIGN.html, sent: false },
    { kind: "template", name: "Receipt", text: "Paid.", sent: false },
  ]);
  expect((await market.world.sdk.campaigns.list()).pagination.total).toBe(1);
});

test("a brand sends a proposed campaign from a test", async () => {
  const { market, activation } = await perform(async (run, { world: { sdk } }) => {
    const list = await run.step("list", async () => {
      const { id } = await sdk.lists.create({ name: "Readers" });
      await sdk.contacts.create({ email: "ada@example.com", firstName: "Ada" });
      await sdk.lists.add(id, { contacts: ["ada@example.com"] });
      return id;
    });
    await run.proposeCampaign("greeting", { text: "A greeting.", campaign: { ...CAMPAIGN, lists: [list] } });
  });
  await activation.answer("approve", undefined, "send");
  expect((await market.world.inbox.all()).map(({ to, subject }) => [to, subject])).toEqual([["ada@example.com", "Hello Ada"]]);
});
