import { TestMarketplace } from "@mailsvc/agent-kit/testing";
import { expect, test } from "vitest";
import { createPublisher, PRICE } from "./agent.ts";

test("publishes the page when the brand approves, days later", async () => {
  await using market = await TestMarketplace.create({ credits: 100 });
  market.serve(createPublisher(market.options));
  const activation = await market.activate();
  expect(await activation.runs()).toMatchObject([{ status: "WAITING", progress: { percent: 60 } }]);
  await market.advance("3d");
  await activation.answer("approve");
  expect(await activation.runs()).toMatchObject([{ status: "COMPLETED", summary: "Published.", creditsConsumed: PRICE }]);
  expect((await activation.messages()).at(-1)?.text).toContain("The page is online: ");
});

test("publishes nothing when the brand rejects", async () => {
  await using market = await TestMarketplace.create();
  market.serve(createPublisher(market.options));
  const activation = await market.activate();
  await activation.answer("reject", "Too blue.");
  expect(await activation.runs()).toMatchObject([{ status: "COMPLETED", summary: "Not published. Too blue." }]);
  expect((await market.world.sdk.landingPages.list()).data).toMatchObject([{ status: "DRAFT" }]);
});

test("stops when it is paused and continues the same run afterwards", async () => {
  await using market = await TestMarketplace.create();
  market.serve(createPublisher(market.options));
  const activation = await market.activate();
  await activation.pause();
  await market.advance("2h");
  await activation.resume();
  await activation.answer("approve");
  expect(await activation.runs()).toMatchObject([{ status: "COMPLETED", summary: "Published." }]);
});

test("answers what the brand writes", async () => {
  await using market = await TestMarketplace.create();
  market.serve(createPublisher(market.options));
  const activation = await market.activate();
  await activation.say("More green, please.");
  expect((await activation.messages()).at(-1)).toMatchObject({ direction: "outbound", text: expect.stringContaining("Noted.") });
});
