import { Mailsvc } from "@mailsvc/sdk";
import { TEMPLATE_LIMITS } from "@mailsvc/sdk/contract";
import { expect, test, vi } from "vitest";
import { keyFor, secondWorkspace } from "../../test/tenant.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const MAIL = { subject: "Hello", from: "hello@acme.example", html: "<p>Hi</p>", publish: true } as const;

const createTemplate = async ({ sdk }: TestWorld, name: string): Promise<string> => (await sdk.templates.create({ name, ...MAIL })).id;

const DRAFT = { subjectLine: "Hello", fromEmail: "hello@acme.example" };

/** An automation whose only step sends a template. */
const automate = ({ sdk }: TestWorld, name: string, templateId: string) =>
  sdk.automations.create({
    name,
    trigger: { type: "contact.created" },
    steps: [{ id: "hello", type: "send_email", templateId }],
    connections: [{ from: "trigger", to: "hello" }],
  });

test("a template names the campaigns that are not over, also by a variant, and the automations that send it", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const [id, other] = [await createTemplate(world, "Hello"), await createTemplate(world, "Other")];
  expect((await sdk.templates.get(id)).usedBy).toEqual({ templates: [], campaigns: [], automations: [] });
  const draft = await sdk.campaigns.create({ ...DRAFT, name: "Draft", templateId: id });
  const scheduledAt = new Date(world.clock.now() + 3_600_000).toISOString();
  const scheduled = await sdk.campaigns.create({ ...DRAFT, name: "Scheduled", templateId: id, scheduledAt });
  const abTest = { variants: [{}, { templateId: id }], samplePercent: 50, winner: "manual" as const };
  const variant = await sdk.campaigns.create({ ...DRAFT, name: "Variant", templateId: other, abTest });
  const cancelled = await sdk.campaigns.create({ ...DRAFT, name: "Cancelled", templateId: id, scheduledAt });
  await sdk.campaigns.cancel(cancelled.id);
  const series = await automate(world, "Series", id);
  const archived = await automate(world, "Archived", id);
  await sdk.automations.archive(archived.id);
  const changed = await automate(world, "Changed", id);
  await sdk.automations.update(changed.id, {
    steps: [{ id: "hello", type: "send_email", templateId: other }],
    connections: changed.connections,
  });
  const usedBy = {
    templates: [],
    campaigns: [
      { id: variant.id, name: "Variant", status: "DRAFT", startedAt: null },
      { id: scheduled.id, name: "Scheduled", status: "SCHEDULED", startedAt: null },
      { id: draft.id, name: "Draft", status: "DRAFT", startedAt: null },
    ],
    automations: [{ id: series.id, name: "Series", status: "DRAFT" }],
  };
  expect((await sdk.templates.get(id)).usedBy).toEqual(usedBy);
  expect((await sdk.templates.update(id, { description: "Sent first" })).usedBy).toEqual(usedBy);
  await sdk.campaigns.delete(draft.id);
  await sdk.automations.delete(series.id);
  expect((await sdk.templates.get(id)).usedBy).toEqual({ ...usedBy, campaigns: usedBy.campaigns.slice(0, 2), automations: [] });
});

test("an update reads what uses its template before its transaction", async () => {
  await using world = await createWorld();
  const { db, templateHooks } = world.app.deps;
  const id = await createTemplate(world, "Hello");
  const listSenders = vi.spyOn(templateHooks, "listSenders");
  await world.sdk.templates.update(id, { name: "Hi" });
  expect(listSenders.mock.calls.map(([read]) => read === db.read)).toEqual([true]);
});

test("a layout and a partial name the templates whose draft or published version has them", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const footer = await sdk.templates.create({ name: "Footer", type: "partial", html: "<p>Acme</p>", publish: true });
  const frame = await sdk.templates.create({ name: "Frame", type: "layout", html: "{{{body}}}{{> footer}}", publish: true });
  const hello = await sdk.templates.create({ name: "Hello", ...MAIL, layout: "frame" });
  expect((await sdk.templates.get(footer.id)).usedBy.templates).toEqual([{ id: frame.id, slug: "frame", name: "Frame" }]);
  expect((await sdk.templates.get(frame.id)).usedBy.templates).toEqual([{ id: hello.id, slug: "hello", name: "Hello" }]);
  await sdk.templates.update(hello.id, { layout: null });
  expect((await sdk.templates.get(frame.id)).usedBy.templates).toHaveLength(1);
  await sdk.templates.update(hello.id, { layout: null, publish: true });
  expect((await sdk.templates.get(frame.id)).usedBy.templates).toEqual([]);
});

test("only what the key may read is named, nothing of another workspace, and at most so many", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const id = await createTemplate(world, "Hello");
  for (let i = 0; i <= TEMPLATE_LIMITS.usedBy; i += 1) await sdk.campaigns.create({ ...DRAFT, name: `Draft ${i}`, templateId: id });
  await automate(world, "Series", id);
  const { campaigns } = (await sdk.templates.get(id)).usedBy;
  expect(campaigns).toHaveLength(TEMPLATE_LIMITS.usedBy);
  expect(campaigns[0]?.name).toBe(`Draft ${TEMPLATE_LIMITS.usedBy}`);
  const apiKey = await keyFor(world, "templates:read", "automations:read");
  const limited = new Mailsvc({ apiKey, baseUrl: world.url, fetch: world.fetch });
  expect((await limited.templates.get(id)).usedBy).toMatchObject({ campaigns: [], automations: [{ name: "Series" }] });
  const tenant = await secondWorkspace(world);
  await expect(tenant.sdk.templates.get(id)).rejects.toMatchObject({ status: 404 });
});
