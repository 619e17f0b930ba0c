import { expect, test } from "vitest";
import { withAgent } from "../../../test/agent-at-work.ts";
import { createWorld } from "../../testing.ts";

test("a listing registers the addresses to which its install link may lead back", async () => {
  await using world = await createWorld();
  await using _made = await withAgent(world, []);
  const { listings } = world.builder.sdk;
  expect((await world.sdk.catalog.get("writer")).installRedirects).toEqual([]);
  const installRedirects = ["https://agent.example.com/installed?from=mail"];
  expect((await listings.update("writer", { installRedirects })).installRedirects).toEqual(installRedirects);
  expect((await world.sdk.catalog.get("writer")).installRedirects).toEqual(installRedirects);
  for (const wrong of [
    "http://agent.example.com/",
    "https://agent.example.com",
    "https://AGENT.example.com/",
    "https://agent.example.com/a/../b",
    "https://agent.example.com/#x",
    "https://a:b@agent.example.com/",
    "//agent.example.com/",
    "javascript:alert(1)",
    "https://agent.example.com/ x",
    "",
  ])
    await expect(listings.update("writer", { installRedirects: [wrong] })).rejects.toMatchObject({
      status: 400,
      details: expect.arrayContaining([expect.objectContaining({ path: "installRedirects[0]", code: "invalid_url" })]),
    });
});

test("an install link opens the page of the dashboard that asks for consent, and no other address", async () => {
  await using world = await createWorld();
  const follow = async (rest: string) => {
    const response = await world.fetch(`${world.url}/install/${rest}`, { redirect: "manual" });
    return [response.status, response.headers.get("location")];
  };
  expect(await follow("writer?state=a%26b&redirect=https%3A%2F%2Fevil.example%2F&more=1")).toEqual([
    302,
    "/dashboard/install/writer?state=a%26b&redirect=https%3A%2F%2Fevil.example%2F",
  ]);
  expect(await follow("%2F%2Fevil.example?state=%0D%0Ax%3A1")).toEqual([
    302,
    "/dashboard/install/%252F%252Fevil.example?state=%0D%0Ax%3A1",
  ]);
});
