import { expect, test } from "vitest";
import { ask, scenarios } from "../../test/scenario.ts";
import { keyFor, secondWorkspace } from "../../test/tenant.ts";
import { createWorld } from "../testing.ts";

const at = "/api/v1/campaigns";
const NOBODY = "cmp_00000000000000000000000000";
const draft = { name: "Launch", subjectLine: "We are live", fromEmail: "news@acme.example", html: "<p>Hello {{firstName}}</p>" };

scenarios("campaigns refuse", [
  { name: "a request without a key", path: at, key: null, body: draft, status: 401, code: "unauthorized" },
  { name: "no fields", path: at, body: {}, status: 400, details: ["name required", "subjectLine required", "fromEmail required"] },
  { name: "a name too long", path: at, body: { ...draft, name: "x".repeat(201) }, status: 400, details: ["name too_big"] },
  { name: "a subject too long", path: at, body: { ...draft, subjectLine: "x".repeat(999) }, status: 400, details: ["subjectLine too_big"] },
  {
    name: "a subject of two lines",
    path: at,
    body: { ...draft, subjectLine: "a\nb" },
    status: 400,
    details: ["subjectLine invalid_characters"],
  },
  {
    name: "a preview text too long",
    path: at,
    body: { ...draft, previewText: "x".repeat(201) },
    status: 400,
    details: ["previewText too_big"],
  },
  { name: "an unknown field", path: at, body: { ...draft, subject: "a" }, status: 400, details: ["subject unknown_field"] },
  {
    name: "an unverified sender",
    path: at,
    body: { ...draft, fromEmail: "x@not-ours.com" },
    status: 400,
    code: "sender_not_verified",
    details: ["fromEmail sender_not_verified"],
  },
  {
    name: "a segment without its id",
    path: at,
    body: { ...draft, recipientType: "segment" },
    status: 400,
    details: ["segmentId required"],
  },
  { name: "a list without its id", path: at, body: { ...draft, recipientType: "list" }, status: 400, details: ["listId required"] },
  {
    name: "a list when all contacts would get it",
    path: at,
    body: { ...draft, listId: "list_1" },
    status: 400,
    details: ["listId not_allowed"],
    contains: ["recipientType list"],
  },
  { name: "an unknown list", path: at, body: { ...draft, recipientType: "list", listId: "list_1" }, status: 404, code: "not_found" },
  {
    name: "an unknown segment",
    path: at,
    body: { ...draft, recipientType: "segment", segmentId: "seg_1" },
    status: 404,
    code: "not_found",
  },
  { name: "an unknown template", path: at, body: { ...draft, html: undefined, templateId: "tpl_1" }, status: 404, code: "not_found" },
  {
    name: "a template together with own content",
    path: at,
    body: { ...draft, templateId: "tpl_1" },
    status: 400,
    details: ["templateId not_allowed"],
  },
  {
    name: "a time in the past",
    path: at,
    body: { ...draft, scheduledAt: "2020-01-01T00:00:00Z" },
    status: 400,
    details: ["scheduledAt in_the_past"],
  },
  {
    name: "a time more than 365 days ahead",
    path: at,
    body: { ...draft, scheduledAt: "2027-01-02T00:00:00Z" },
    status: 400,
    details: ["scheduledAt too_far"],
  },
  { name: "a subject of blanks", path: at, body: { ...draft, subjectLine: "   " }, status: 400, details: ["subjectLine invalid_format"] },
  {
    name: "a time that is none",
    path: at,
    body: { ...draft, scheduledAt: "tomorrow" },
    status: 400,
    details: ["scheduledAt invalid_format"],
  },
  { name: "HTML that is no template", path: at, body: { ...draft, html: "<p>{{#if a}}</p>" }, status: 400, code: "validation_error" },
  {
    name: "a subject that is no template",
    path: at,
    body: { ...draft, subjectLine: "Hi {{" },
    status: 400,
    code: "validation_error",
    contains: ["subjectLine"],
  },
  { name: "one variant", path: at, body: { ...draft, abTest: { variants: [{}] } }, status: 400, details: ["abTest.variants too_small"] },
  {
    name: "six variants",
    path: at,
    body: { ...draft, abTest: { variants: [{}, {}, {}, {}, {}, {}] } },
    status: 400,
    details: ["abTest.variants too_big"],
  },
  {
    name: "a window in no time zone",
    path: at,
    body: { ...draft, throttle: { window: { start: "09:00", end: "17:00", timeZone: "Mars/Base" } } },
    status: 400,
    details: ["throttle.window.timeZone invalid_time_zone"],
  },
  {
    name: "an empty window",
    path: at,
    body: { ...draft, throttle: { window: { start: "09:00", end: "09:00", timeZone: "UTC" } } },
    status: 400,
    details: ["throttle.window.end empty_window"],
  },
  { name: "an unknown campaign", method: "GET", path: `${at}/${NOBODY}`, status: 404, code: "not_found" },
  { name: "a status that is none", method: "GET", path: `${at}?status=DONE`, status: 400, details: ["status invalid_value"] },
]);

test("a draft is created, shown with its list and found by its status", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const list = await sdk.lists.create({ name: "Newsletter" });
  await sdk.contacts.create({ email: "ada@example.com" });
  await sdk.lists.add(list.id, { contacts: ["ada@example.com"] });
  const made = await sdk.campaigns.create({ ...draft, recipientType: "list", listId: list.id, fromName: 'Acme "News"' });
  expect(made).toMatchObject({
    status: "DRAFT",
    statusReason: null,
    list: { id: list.id, name: "Newsletter", memberCount: 1 },
    segment: null,
    template: null,
  });
  expect(await sdk.campaigns.get(made.id)).toEqual(made);
  const scheduled = await sdk.campaigns.create({ ...draft, scheduledAt: "2026-01-02T09:00:00+01:00" });
  expect(scheduled).toMatchObject({ status: "SCHEDULED", scheduledAt: "2026-01-02T08:00:00.000Z" });
  const page = await sdk.campaigns.list({ status: "DRAFT" });
  expect(page.data.map((c) => c.id)).toEqual([made.id]);
  expect(page.data[0]).not.toHaveProperty("html");
  expect((await sdk.campaigns.list()).data.map((c) => c.id)).toEqual([scheduled.id, made.id]);
  const autumn = await sdk.campaigns.create({ ...draft, name: "Autumn 100%", subjectLine: "Leaves fall" });
  for (const search of ["autumn 100%", "LEAVES"]) expect((await sdk.campaigns.list({ search })).data).toMatchObject([{ id: autumn.id }]);
  expect((await sdk.campaigns.list({ search: "100_" })).data).toEqual([]);
  expect((await sdk.campaigns.list({ search: "leaves", status: "SCHEDULED" })).data).toEqual([]);
  await sdk.lists.delete(list.id);
  expect(await sdk.campaigns.get(made.id)).toMatchObject({ listId: list.id, list: null });
});

test("a draft is not changed by who has not seen the last change, also while the clock stands still", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const made = await sdk.campaigns.create(draft);
  const theirs = await sdk.campaigns.update(made.id, { subjectLine: "Theirs", revision: made.revision });
  expect(theirs.revision).toBeGreaterThan(made.revision);
  await expect(sdk.campaigns.update(made.id, { subjectLine: "Mine", revision: made.revision })).rejects.toMatchObject({
    code: "conflict",
    status: 409,
    details: [{ path: "revision", code: "outdated" }],
  });
  expect(await sdk.campaigns.get(made.id)).toMatchObject({ subjectLine: "Theirs", revision: theirs.revision });
  expect(await sdk.campaigns.update(made.id, { subjectLine: "Mine", revision: theirs.revision })).toMatchObject({ subjectLine: "Mine" });
});

test("a campaign is not sent, scheduled or resumed by who has not seen the last change", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id, revision } = await sdk.campaigns.create(draft);
  const changed = await sdk.campaigns.update(id, { subjectLine: "Theirs" });
  const outdated = { code: "conflict", status: 409, details: [{ path: "revision", code: "outdated" }] };
  const scheduledAt = new Date(world.clock.now() + 60_000).toISOString();
  await expect(sdk.campaigns.send(id, { revision })).rejects.toMatchObject(outdated);
  await expect(sdk.campaigns.schedule(id, { scheduledAt, revision })).rejects.toMatchObject(outdated);
  await expect(sdk.campaigns.resume(id, { revision })).rejects.toMatchObject(outdated);
  expect(await sdk.campaigns.get(id)).toEqual(changed);
  const scheduled = await sdk.campaigns.schedule(id, { scheduledAt, revision: changed.revision });
  expect(scheduled.status).toBe("SCHEDULED");
  await expect(sdk.campaigns.send(id, { revision: changed.revision })).rejects.toMatchObject(outdated);
  expect(await sdk.campaigns.send(id, { revision: scheduled.revision })).toMatchObject({ status: "SENDING" });
});

test("a template is named with its published version; blocks, layouts and unpublished ones are refused", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { html: _html, ...rest } = draft;
  const template = await sdk.templates.create({ name: "News", type: "marketing", subject: "s", html: "<p>Hi</p>" });
  const made = await sdk.campaigns.create({ ...rest, templateId: template.id });
  expect(made.template).toEqual({ id: template.id, slug: "news", name: "News", version: null });
  const later = { ...rest, templateId: template.id, scheduledAt: "2026-02-01T00:00:00Z" };
  await expect(sdk.campaigns.create(later)).rejects.toMatchObject({ code: "template_not_found" });
  await sdk.templates.publish(template.id);
  expect(await sdk.campaigns.create(later)).toMatchObject({ status: "SCHEDULED", template: { version: 1 } });
  const blocks = await sdk.templates.create({ name: "Blocks", kind: "JSON_BLOCKS", blocks: [{ type: "text" }] });
  const layout = await sdk.templates.create({ name: "Frame", type: "layout", html: "<main>{{{body}}}</main>" });
  for (const { id } of [blocks, layout])
    await expect(sdk.campaigns.create({ ...rest, templateId: id })).rejects.toMatchObject({ code: "template_error" });
});

test("a key needs the permissions, and another workspace sees nothing", async () => {
  await using world = await createWorld();
  const made = await world.sdk.campaigns.create(draft);
  const reader = await keyFor(world, "campaigns:read");
  expect((await ask(world, { path: at, key: reader, body: draft })).status).toBe(403);
  expect((await ask(world, { path: `${at}/${made.id}`, method: "GET", key: reader })).status).toBe(200);
  const writer = await keyFor(world, "campaigns:write");
  expect((await ask(world, { path: at, method: "GET", key: writer })).status).toBe(403);
  const other = await secondWorkspace(world);
  expect((await ask(world, { path: `${at}/${made.id}`, method: "GET", key: other.apiKey })).status).toBe(404);
});
