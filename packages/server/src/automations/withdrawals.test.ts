import { expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const NAMES = ["ada", "deleted", "erased", "unsubscribed", "bounced"] as const;

const at = (name: string): string => `${name}@slow.example`;

async function operate(world: TestWorld, path: string, body: object = {}): Promise<void> {
  const { status } = await ask(world, { method: "POST", path: `/api/v1/queue/${path}`, key: world.operatorKey, body });
  expect(status).toBe(200);
}

/** Contacts whose mail from an automation waits. */
async function startWaiting(world: TestWorld): Promise<Map<string, string>> {
  const { sdk } = world;
  const template = await sdk.templates.create({ slug: "hi", name: "Hi", subject: "Hi", html: "<p>Hi</p>" });
  await sdk.templates.publish(template.id);
  const { id } = await sdk.automations.create({
    name: "Welcome",
    trigger: { type: "contact.created" },
    steps: [{ id: "mail", type: "send_email", templateId: template.id, from: "news@acme.example" }],
    connections: [{ from: "trigger", to: "mail" }],
  });
  await sdk.automations.activate(id);
  const contacts = new Map<string, string>();
  for (const name of NAMES) contacts.set(name, (await sdk.contacts.create({ email: at(name) })).id);
  await world.settle();
  expect(await sdk.automations.stats(id)).toMatchObject({ completed: NAMES.length });
  expect((await sdk.emails.list({ status: "queued" })).pagination.total).toBe(NAMES.length);
  return contacts;
}

test.each(["hold", "pause"] as const)(
  "mail of an automation that waits by a %s reaches nobody who may not get it any more",
  async (waiting) => {
    await using world = await createWorld();
    const { sdk } = world;
    // Steps are taken while no mail leaves.
    await operate(world, "hold", { domain: "slow.example" });
    const contacts = await startWaiting(world);
    if (waiting === "pause") {
      await operate(world, "pause");
      await operate(world, "release", { domain: "slow.example" });
      await world.settle();
      expect((await sdk.emails.list({ status: "queued" })).pagination.total).toBe(NAMES.length);
    }
    const idOf = (name: string): string => contacts.get(name) ?? "";
    await sdk.contacts.delete(idOf("deleted"));
    await sdk.people.erase(at("erased"));
    await sdk.contacts.update(idOf("unsubscribed"), { status: "UNSUBSCRIBED" });
    await sdk.suppressions.create({ email: at("bounced"), reason: "bounce" });
    await (waiting === "hold" ? operate(world, "release", { domain: "slow.example" }) : operate(world, "resume"));
    await world.settle();
    expect((await world.inbox.all()).map(({ to }) => to)).toEqual([at("ada")]);
    const skipped = await sdk.emails.list({ status: "skipped" }).toArray();
    const reasons = new Map<string, string>();
    for (const { id, to, attempts, contactId } of skipped) {
      expect(attempts).toBe(0);
      const { summary, actions } = await sdk.explanations.get(id);
      reasons.set(to, summary);
      if (contactId === idOf("deleted")) expect(actions).toEqual([]);
    }
    expect(Object.fromEntries(reasons)).toEqual({
      [at("deleted")]: "It was not sent. The contact was deleted before its turn came.",
      [at("unsubscribed")]: "It was not sent. The contact has unsubscribed.",
      [at("bounced")]: "It was not sent. An earlier email to the contact bounced.",
    });
  },
);
