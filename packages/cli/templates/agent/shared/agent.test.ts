import { TestMarketplace } from "@mailsvc/agent-kit/testing";
import { expect, test } from "vitest";
import { createHelloAgent } from "./agent.ts";

test("greets the brand, proposes a campaign, and answers messages", async () => {
  await using market = await TestMarketplace.create();
  market.serve(createHelloAgent(market.options));
  const activation = await market.activate();
  expect(await activation.runs()).toMatchObject([{ status: "WAITING" }]);
  await market.advance("2d");
  await activation.answer("approve");
  expect(await activation.runs()).toMatchObject([{ status: "COMPLETED", summary: "Said hello; the greeting was approved." }]);
  expect(await activation.proposed()).toMatchObject([{ kind: "campaign", name: "Greeting", sent: false }]);
  await activation.say("Good morning");
  const texts = (await activation.messages()).map(({ text }) => text);
  expect(texts.at(0)).toMatch(/^Hello .+, I am ready\.$/);
  expect(texts.at(-1)).toBe("You wrote: Good morning");
});
