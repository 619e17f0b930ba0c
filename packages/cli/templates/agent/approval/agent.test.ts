import { TestMarketplace } from "@mailsvc/agent-kit/testing";
import { expect, test } from "vitest";
import { createHelloAgent } from "./agent.ts";

test("asks the brand before it begins, and answers it", async () => {
  await using market = await TestMarketplace.create();
  market.serve(createHelloAgent({ ...market.options, mode: "inline" }));
  const activation = await market.activate();
  expect(await activation.runs()).toMatchObject([{ status: "WAITING" }]);
  await market.advance("2d");
  await activation.answer("approve");
  expect(await activation.runs()).toMatchObject([{ status: "COMPLETED", summary: "The brand said yes." }]);
  await activation.say("Good morning");
  const texts = (await activation.messages()).map(({ text }) => text);
  expect(texts.at(0)).toMatch(/^Hello .+, I am ready\.$/);
  expect(texts).toContain("Thank you, I begin.");
  expect(texts.at(-1)).toBe("You wrote: Good morning");
});
