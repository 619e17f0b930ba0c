import { TestMarketplace } from "@mailsvc/agent-kit/testing";
import { expect, test } from "vitest";
import { createHelloAgent } from "./agent.ts";

test("greets the brand, and answers it", async () => {
  await using market = await TestMarketplace.create();
  market.serve(createHelloAgent(market.options));
  const activation = await market.activate();
  expect(await activation.runs()).toMatchObject([{ status: "COMPLETED", summary: "Said hello." }]);
  await activation.say("Good morning");
  const texts = (await activation.messages()).map(({ text }) => text);
  expect(texts.at(0)).toMatch(/^Hello .+, I am ready\.$/);
  expect(texts.at(-1)).toBe("You wrote: Good morning");
});
