import type { CampaignDetail, NewCampaign } from "@mailsvc/sdk/contract";
import { expect } from "vitest";
import { findDifferences } from "../src/campaigns/recount.ts";
import type { TestWorld } from "../src/testing.ts";

const DRAFT = {
  name: "Launch",
  subjectLine: "Hello {{firstName}}",
  fromEmail: "news@acme.example",
  html: '<p>Dear {{firstName}}, your plan is {{plan}}. <a href="https://acme.example/launch">Look</a></p>',
};

/** Adds contacts p0 to p(n-1) at example.com, with names and a custom field, and returns their addresses. */
export async function addContacts({ sdk }: Pick<TestWorld, "sdk">, n: number): Promise<string[]> {
  const emails = Array.from({ length: n }, (_, i) => `p${i}@example.com`);
  const rows = emails.map((email, i) => ({ email, firstName: `P${i}`, customFields: { plan: i % 2 === 0 ? "gold" : "basic" } }));
  for (let i = 0; i < rows.length; i += 1000) await sdk.contacts.import({ rows: rows.slice(i, i + 1000) });
  return emails;
}

/** Creates a campaign to all contacts, unless the fields say otherwise. */
export function createCampaign({ sdk }: Pick<TestWorld, "sdk">, fields: Partial<NewCampaign> = {}): Promise<CampaignDetail> {
  return sdk.campaigns.create({ ...DRAFT, ...fields });
}

/**
 * The recipients of a campaign by state, as its statistics say. Checks that these are what its rows and events say, that the
 * states add up, and that nobody got two mails.
 */
export async function checkRecipients(world: TestWorld, id: string): Promise<Partial<Record<string, number>>> {
  expect(await findDifferences(world.app.deps.db.read, { workspaceId: world.workspaceId, id })).toEqual([]);
  const { recipients } = await world.sdk.campaigns.stats(id);
  const { total, ...states } = recipients;
  expect(Object.values(states).reduce((sum, n) => sum + n, 0)).toBe(total);
  const to = (await world.inbox.all()).map((mail) => mail.to);
  expect(to.filter((address, i) => to.indexOf(address) !== i)).toEqual([]);
  return Object.fromEntries(Object.entries(states).filter(([, n]) => n > 0));
}
