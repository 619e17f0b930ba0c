import { expect, test } from "vitest";
import { createWorld, type TestWorld } from "../testing.ts";
import { findDifferences } from "./recount.ts";

const draft = {
  name: "Launch",
  subjectLine: "Hello {{firstName}}",
  fromEmail: "news@acme.example",
  html: "<p>Dear {{firstName}}, your plan is {{plan}}.</p>",
};

/** Adds contacts p0 to p(n-1), with names and a custom field. */
async function addContacts({ sdk }: TestWorld, n: number): Promise<string[]> {
  const contacts = Array.from({ length: n }, (_, i) => ({
    email: `p${i}@example.com`,
    firstName: `P${i}`,
    customFields: { plan: i % 2 === 0 ? "gold" : "basic" },
  }));
  await sdk.contacts.import({ rows: contacts });
  return contacts.map(({ email }) => email);
}

/** The recipients of a campaign by state. Checks that the counters agree with the rows. */
async function countRecipients(world: TestWorld, id: string): Promise<Record<string, number>> {
  expect(await findDifferences(world.app.deps.db.read, id)).toEqual([]);
  const states: Record<string, number> = {};
  for await (const { status } of world.sdk.campaigns.recipients(id)) states[status] = (states[status] ?? 0) + 1;
  return states;
}

test("a campaign goes to all contacts once, rendered for each, and ends as SENT", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 30);
  const { id } = await sdk.campaigns.create({ ...draft, previewText: "For {{firstName}} & friends" });
  expect(await sdk.campaigns.send(id)).toMatchObject({ status: "SENDING", startedAt: "2026-01-01T00:00:00.000Z" });
  await world.settle();
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENT", completedAt: "2026-01-01T00:00:00.000Z" });
  expect(await countRecipients(world, id)).toEqual({ delivered: 30 });
  const mails = await world.inbox.all();
  expect(new Set(mails.map((mail) => mail.to)).size).toBe(30);
  const p3 = await world.inbox.waitFor({ to: "p3@example.com" });
  expect(p3.subject).toBe("Hello P3");
  expect(p3.html).toContain("Dear P3, your plan is basic.");
  expect(p3.html).toContain("For P3 &amp; friends");
  expect(p3.text).not.toContain("friends");
});
