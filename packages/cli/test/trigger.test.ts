import { describe, expect, test } from "vitest";
import { receiver } from "../../server/test/receiver.ts";
import { RECIPES } from "../src/trigger/recipes.ts";
import { startCliWithServer } from "./world.ts";

const CREATING = Object.entries(RECIPES).flatMap(([type, recipe]) => ("create" in recipe && recipe.create ? [type] : []));

describe("trigger", () => {
  test.each(CREATING)("%s really happens", async (type) => {
    const { mailsvc } = await startCliWithServer();
    const result = await mailsvc(["trigger", type]);
    const { code, stderr } = result;
    expect([code, stderr]).toEqual([0, ""]);
    expect(result.json).toMatchObject({ type, sequence: expect.any(Number) });
  });

  test("with my data: fields of the object are set, and webhooks get the event", async () => {
    await using hook = await receiver();
    const { mailsvc, world } = await startCliWithServer();
    await world.sdk.webhooks.create({ url: hook.url, events: ["email.bounced"] });
    const to = "bounced+ada@simulator.mailsvc.test";
    const { json } = await mailsvc([
      "trigger",
      "email.bounced",
      "--set",
      `to=${to}`,
      "subject=Order 1042",
      "tags.order=1042",
      'tracking:={"opens":true}',
    ]);
    expect(json).toMatchObject({ type: "email.bounced", to });
    expect(await world.sdk.emails.get(json.emailId)).toMatchObject({ subject: "Order 1042", tags: { order: "1042" } });
    await world.settle();
    expect(hook.received.map(({ event }) => event.id)).toEqual([json.id]);
  });

  test("on an object of mine", async () => {
    const { mailsvc, world } = await startCliWithServer();
    const { id } = await world.sdk.contacts.create({ email: "ada@example.com" });
    expect((await mailsvc(["trigger", "contact.unsubscribed", "--on", id])).json).toMatchObject({ contactId: id });
    expect((await world.sdk.contacts.get(id)).status).toBe("UNSUBSCRIBED");
    await world.sdk.contacts.create({ email: "grace@example.com" });
    const fields = { name: "Slow", subjectLine: "S", fromEmail: "a@acme.example", text: "x", throttle: { perSecond: 0.01 } };
    const campaign = await world.sdk.campaigns.create(fields);
    await world.sdk.campaigns.send(campaign.id);
    expect((await mailsvc(["trigger", "campaign.paused", "--on", campaign.id])).json).toMatchObject({ campaignId: campaign.id });
  });

  test("an email without a planned time cannot be moved", async () => {
    const { mailsvc, world } = await startCliWithServer();
    const { id } = await world.sdk.emails.send({ from: "a@acme.example", to: "ada@example.com", subject: "S", text: "x" });
    const { code, stderr } = await mailsvc(["trigger", "email.rescheduled", "--on", id]);
    expect([code, stderr]).toEqual([7, expect.stringContaining(`The email ${id} has no planned time that could be moved.`)]);
  });

  test.each<[argv: string[], says: string]>([
    [["email.bouncd"], "Did you mean email.bounced?"],
    [["email.unsubscribed"], "email.unsubscribed cannot be triggered: open the unsubscribe link of an email."],
    [["email.bounced", "--set", "subjct=x"], "there is no field subjct.\nDid you mean subject? The fields are to, "],
    [["email.bounced", "--set", "tracking.openss:=true"], "there is no field tracking.openss.\nDid you mean tracking.opens?"],
    [["email.bounced", "--set", "subject"], "has no path and value"],
    [["email.bounced", "--set", "tags:=[1"], "this is not JSON"],
    [["email.bounced", "--on", "em_1"], "so it takes no --on"],
    [["contact.deleted", "--on", "em_1"], "begin with con_"],
    [["contact.deleted", "--on", "con_1", "--set", "email=a@example.com"], "with --on there is none"],
    [["campaign.paused"], "campaign.paused needs --on"],
  ])("%j is wrong usage", async (argv, says) => {
    const { mailsvc, world } = await startCliWithServer();
    const { code, stderr } = await mailsvc(["trigger", ...argv]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
    // Nothing was made.
    expect((await world.sdk.events.list()).pagination.total).toBe(0);
  });

  test("a value that is refused names its field", async () => {
    const { mailsvc } = await startCliWithServer();
    const { code, stderr } = await mailsvc(["trigger", "email.sent", "--set", "to=nobody"]);
    expect([code, stderr]).toEqual([3, expect.stringContaining("to")]);
  });

  test("an event that comes much later says so, unless the clock is moved", async () => {
    const { mailsvc, world } = await startCliWithServer();
    await world.sdk.clock.thaw();
    const late = await mailsvc(["trigger", "email.failed"]);
    expect([late.code, late.stderr]).toEqual([10, expect.stringContaining("--advance")]);
    expect((await mailsvc(["trigger", "email.failed", "--advance"])).json).toMatchObject({ type: "email.failed" });
  });
});
