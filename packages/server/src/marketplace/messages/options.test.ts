import { expect, test } from "vitest";
import { createAgent, withAgent } from "../../../test/agent-at-work.ts";
import { createWorld } from "../../testing.ts";

const YES = { id: "approve", label: "Approve", style: "primary" };
const NO = { id: "reject", label: "Reject", style: "danger" };

type Option = { id: string; label?: string; style?: "primary" | "danger" };
const question = (options?: readonly Option[], also: object = {}) => ({
  type: "APPROVAL_REQUEST" as const,
  text: "?",
  approval: { title: "Survey", ...(options && { options: [...options] }), ...also },
});

test("the options approve and reject have the service's labels and styles, named or not", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { messages } = made.agent.client;
  const shown = async (options?: readonly Option[]) => (await messages.create(question(options))).approval?.options;
  expect(await shown()).toEqual([YES, NO]);
  expect(await shown([{ id: "reject" }, { id: "approve", label: "Approve" }])).toEqual([NO, YES]);
  expect(
    await shown([
      { id: "approve", style: "primary" },
      { id: "later", label: "Later 👩‍🎨" },
    ]),
  ).toEqual([YES, { id: "later", label: "Later 👩‍🎨" }]);
  const post = { ...question([{ id: "approve" }, { id: "reject", label: "Reject" }]), externalId: "once" };
  const first = await messages.create(post);
  expect(await messages.create({ ...post, ...question() })).toEqual(first);
});

const later: Option = { id: "later", label: "Later" };
test.each<[string, readonly Option[], string, string]>([
  ["another label of approve", [{ id: "approve", label: "No, thanks" }, later], "options[0].label", "reserved"],
  ["the label of reject on approve", [{ id: "approve", label: "Reject" }, later], "options[0].label", "reserved"],
  ["another case", [{ id: "approve", label: "APPROVE" }, later], "options[0].label", "reserved"],
  ["a homoglyph", [{ id: "approve", label: "\u0410pprove" }, later], "options[0].label", "reserved"],
  ["a label of reject that agrees", [later, { id: "reject", label: "Yes" }], "options[1].label", "reserved"],
  ["a dangerous approve", [{ id: "approve", style: "danger" }, later], "options[0].style", "reserved"],
  ["a primary reject", [later, { id: "reject", style: "primary" }], "options[1].style", "reserved"],
  ["an own option called Approve", [{ id: "no", label: "Approve" }, later], "options[0].label", "reserved"],
  ["an own option called reject in wide letters", [{ id: "yes", label: "Ｒｅｊｅｃｔ" }, later], "options[0].label", "reserved"],
  ["an own option without a label", [{ id: "red" }, later], "options[0].label", "required"],
  ["two options with one label", [{ id: "red", label: "Later " }, later], "options", "duplicate"],
  ["two options that only case tells apart", [{ id: "red", label: "LATER" }, later], "options", "duplicate"],
  ["an id in capitals", [{ id: "Approve", label: "x" }, later], "options[0].id", "invalid_format"],
  ["an id with a space", [{ id: "approve ", label: "x" }, later], "options[0].id", "invalid_format"],
  ["an id with a homoglyph", [{ id: "\u0430pprove", label: "x" }, later], "options[0].id", "invalid_format"],
  ["an id that is a decision", [{ id: "approved", label: "x" }, later], "options[0].id", "reserved"],
  ["a label that turns around", [{ id: "red", label: "\u202eevorppA" }, later], "options[0].label", "invalid_characters"],
  ["a label with a character without width", [{ id: "red", label: "Ap\u200bprove" }, later], "options[0].label", "invalid_characters"],
  ["a label with a mark of direction", [{ id: "red", label: "Yes\u200f" }, later], "options[0].label", "invalid_characters"],
  ["a label with a soft hyphen", [{ id: "red", label: "Ap\u00adprove" }, later], "options[0].label", "invalid_characters"],
  ["a label of joiners only", [{ id: "red", label: "\u200d\u200d" }, later], "options[0].label", "invalid_characters"],
])("%s is refused with the field", async (_name, options, path, code) => {
  await using world = await createWorld();
  await using made = await withAgent(world, ["agent:post_messages"]);
  await expect(made.agent.client.messages.create(question(options))).rejects.toMatchObject({
    status: 400,
    code: "validation_error",
    details: expect.arrayContaining([expect.objectContaining({ path: `approval.${path}`, code })]),
  });
  expect((await world.sdk.approvals.list()).data).toEqual([]);
});

test("a request that lets the agent publish a page says so in the service's words, whatever the agent writes", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client } = made.agent;
  await world.sdk.brand.update({ publishNeedsApproval: true });
  const page = await client.landingPages.create({ title: "Keep” “private\u200b", slug: "survey", html: "<p>x</p>" });
  const preview = { kind: "landing_page" as const, id: page.id };
  const asked = await client.messages.create(question([{ id: "reject" }, { id: "approve" }], { title: "Keep it private?", preview }));
  const allows = "Publish the page survey as it is now: “Keep' 'private”";
  expect(asked.approval).toMatchObject({ allows, options: [NO, YES] });
  await client.landingPages.update(page.id, { title: "Another" });
  expect((await world.sdk.approvals.list()).data).toMatchObject([{ approval: { allows } }]);
  await world.sdk.messages.answer(asked.id, { decision: "approve" });
  await expect(client.landingPages.publish(page.id)).rejects.toMatchObject({ code: "approval_required" });
  const again = await client.messages.create(question(undefined, { preview }));
  expect(again.approval?.allows).toBe("Publish the page survey as it is now: “Another”");
  expect((await world.sdk.messages.answer(again.id, { decision: "approve" })).approval?.allows).toBe(again.approval?.allows);
  expect(await client.landingPages.publish(page.id)).toMatchObject({ status: "PUBLISHED" });
});

test("requests that open nothing say nothing", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const rival = await createAgent(world, made.hooks, { slug: "rival" });
  const { client } = made.agent;
  const page = await client.landingPages.create({ title: "Page", html: "<p>x</p>" });
  const preview = { kind: "landing_page" as const, id: page.id };
  const allows = async (options?: readonly Option[], also?: object) =>
    (await client.messages.create(question(options, also))).approval?.allows;
  expect(await allows()).toBeNull();
  expect(await allows(undefined, { preview: { kind: "text", text: "Publish the page" } })).toBeNull();
  expect(await allows([later, { id: "red", label: "Red" }], { preview })).toBeNull();
  await expect(rival.client.messages.create(question(undefined, { preview }))).rejects.toMatchObject({ code: "not_found" });
});
