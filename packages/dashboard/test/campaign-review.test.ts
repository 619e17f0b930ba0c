import type { Mailsvc } from "@mailsvc/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { connect, fillAudience } from "./marketing.ts";

const draft = { subjectLine: "Spring", fromEmail: "news@acme.example", text: "It is spring." };

let stage: Stage;
let sdk: Mailsvc;
beforeAll(async () => {
  stage = await createStage();
  sdk = connect(stage);
  await fillAudience(sdk, 30);
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

test(
  "a review shows a colleague's change before the campaign can be sent",
  async () => {
    const { id } = await sdk.campaigns.create({ ...draft, name: "Reviewed by two", throttle: { perSecond: 1 } });
    const { page } = await stage.open(`/dashboard/campaigns/${id}/review`);
    const send = page.getByRole("button", { name: /^Send to \d+ people$/ });
    await send.waitFor();
    await sdk.campaigns.update(id, { subjectLine: "A colleague's subject" });
    await send.click();
    await page.getByRole("alert").getByText("Somebody changed it after you opened this page.").waitFor();
    await page.locator(".checks").getByText("A colleague's subject").waitFor();
    expect(await sdk.campaigns.get(id)).toMatchObject({ status: "DRAFT" });
    await send.click();
    await page.getByRole("heading", { name: /^Sending: \d+ people to go$/ }).waitFor();
    await sdk.campaigns.cancel(id);
    const later = await sdk.campaigns.create({ ...draft, name: "Scheduled by two", scheduledAt: new Date(Date.now() + 86_400_000) });
    await page.goto(`/dashboard/campaigns/${later.id}`);
    await page.getByRole("button", { name: "Send now" }).click();
    await sdk.campaigns.update(later.id, { subjectLine: "A colleague's subject" });
    await page.getByRole("dialog").getByRole("button", { name: "Send now" }).click();
    await page.getByRole("alert").getByText("Somebody changed it after you opened this page.").waitFor();
    expect(await sdk.campaigns.get(later.id)).toMatchObject({ status: "SCHEDULED" });
    await sdk.campaigns.delete(later.id);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "what a colleague changes of an automation is shown before it is activated",
  async () => {
    const exit = { steps: [{ id: "end", type: "exit" as const }], connections: [{ from: "trigger", to: "end" }] };
    const { id } = await sdk.automations.create({ name: "Of two", trigger: { type: "contact.created" }, ...exit });
    const { page } = await stage.open(`/dashboard/automations/${id}`);
    await page.getByRole("button", { name: "Activate" }).click();
    // The page looks for changes by itself now and then: it must not do so between this one and the click.
    await page.route(`**/api/v1/automations/${id}`, (route) => route.abort());
    await sdk.automations.update(id, { name: "Of a colleague" });
    await page.getByRole("dialog").getByRole("button", { name: "Activate" }).click();
    await page.getByRole("alert").getByText("Somebody changed it after you opened this page.").waitFor();
    expect(await sdk.automations.get(id)).toMatchObject({ status: "DRAFT" });
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
