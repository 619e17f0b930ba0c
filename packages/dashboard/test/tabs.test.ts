import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await createStage();
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

const send = (subject: string): Promise<unknown> =>
  stage.call("POST", "/api/v1/send", { from: "hello@acme.example", to: "ada@example.com", subject, text: "Hello" });

test(
  "the tabs of a browser share one connection for events; when its tab is closed, another takes over",
  async () => {
    const { page: first } = await stage.open("/dashboard/activity");
    await first.getByText("Live", { exact: true }).waitFor();
    const second = await first.context().newPage();
    const streams: string[] = [];
    second.on("request", (request) => {
      if (request.url().endsWith("/events/stream")) streams.push(request.url());
    });
    await second.goto("/dashboard/activity");
    // Before anything happens.
    await second.getByText("Live", { exact: true }).waitFor();
    await send("To both tabs");
    for (const tab of [first, second]) await tab.getByText("To both tabs").waitFor();
    expect(streams).toEqual([]);
    const taken = second.waitForRequest(/\/events\/stream$/);
    await first.close();
    await taken;
    await send("To the other tab");
    await second.getByText("To the other tab").waitFor();
    expect(streams).toHaveLength(1);
  },
  PATIENCE_MS * 3,
);

test(
  "a session that has ended asks to sign in, in every tab",
  async () => {
    await using live = await createStage({ dev: false });
    const { url } = await live.call<{ url: string }>("POST", "/api/v1/dashboard/links", {});
    const { page } = await live.open(url);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const second = await page.context().newPage();
    await second.goto("/dashboard/people");
    await second.getByRole("button", { name: "Invite somebody" }).waitFor();
    await live.call("DELETE", "/api/v1/dashboard/sessions");
    for (const tab of [page, second]) await tab.getByRole("heading", { name: "Sign in to mailsvc" }).waitFor();
  },
  PATIENCE_MS * 3,
);
