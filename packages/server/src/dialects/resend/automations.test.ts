import type { AutomationStep } from "resend";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, type ResendServer, startResend } from "../../../test/resend-server.ts";

let server: ResendServer;
beforeAll(async () => {
  server = await startResend();
});
afterAll(() => server.close());

/** The data of an answer of the package. */
function dataOf<T>({ data, error }: { data: T | null; error: unknown }): T {
  expect(error).toBeNull();
  if (data === null) throw new Error("An answer without an error has data.");
  return data;
}

const start: AutomationStep = { key: "start", type: "trigger", config: { eventName: "signed.up" } };

test("an event starts an automation that asks, changes the contact, adds it to a segment and sends a template", async () => {
  const { automations, contacts, emails, events, segments, templates } = server.resend;
  const { id: segmentId } = dataOf(await segments.create({ name: "Welcomed" }));
  const { id: template } = dataOf(
    await templates.create({ name: "Welcome", subject: "Welcome", html: "<p>Hi</p>", from: "Acme <hello@acme.com>" }),
  );
  dataOf(await templates.publish(template));
  const steps: AutomationStep[] = [
    start,
    { key: "pro", type: "condition", config: { type: "rule", field: "contact.plan", operator: "eq", value: "pro" } },
    { key: "note", type: "contact_update", config: { lastName: "Pro", properties: { welcomed: true } } },
    { key: "group", type: "add_to_segment", config: { segmentId } },
    { key: "mail", type: "send_email", config: { template: { id: template }, from: "Acme <hello@acme.com>" } },
  ];
  const connections = [
    { from: "start", to: "pro" },
    { from: "pro", to: "note", type: "condition_met" as const },
    { from: "note", to: "group" },
    { from: "group", to: "mail" },
  ];
  const { id } = dataOf(await automations.create({ name: "Welcome", status: "enabled", steps, connections }));
  const shown = dataOf(await automations.get(id));
  expect(shown.steps).toEqual([
    { key: "trigger", type: "trigger", config: { event_name: "signed.up" } },
    { key: "pro", type: "condition", config: { type: "rule", field: "contact.plan", operator: "eq", value: "pro" } },
    { key: "note", type: "contact_update", config: { last_name: "Pro", properties: { welcomed: true } } },
    { key: "group", type: "add_to_segment", config: { segment_id: segmentId } },
    { key: "mail", type: "send_email", config: { template: { id: template }, from: "Acme <hello@acme.com>" } },
  ]);
  expect(shown.connections).toContainEqual({ from: "pro", to: "note", type: "condition_met" });

  const pro = dataOf(await contacts.create({ email: "pro@example.com", properties: { plan: "pro" } }));
  dataOf(await contacts.create({ email: "free@example.com", properties: { plan: "free" } }));
  for (const email of ["pro@example.com", "free@example.com"]) dataOf(await events.send({ event: "signed.up", email }));
  await server.settle();
  expect(dataOf(await contacts.get(pro.id))).toMatchObject({ last_name: "Pro", properties: { welcomed: { value: true } } });
  expect(dataOf(await contacts.segments.list({ contactId: pro.id })).data).toMatchObject([{ id: segmentId }]);
  const sent = dataOf(await emails.list()).data;
  expect(sent.map(({ to }) => to)).toEqual([["pro@example.com"]]);

  const runs = dataOf(await automations.runs.list({ automationId: id, status: "completed" })).data;
  expect(runs).toHaveLength(2);
  const all = await Promise.all(runs.map(async ({ id: runId }) => dataOf(await automations.runs.get({ automationId: id, runId }))));
  const [taken] = all.filter(({ steps: of }) => of.length > 1);
  expect(taken?.steps.map(({ key, type, status }) => [key, type, status])).toEqual([
    ["pro", "condition", "completed"],
    ["note", "contact_update", "completed"],
    ["group", "add_to_segment", "completed"],
    ["mail", "send_email", "completed"],
  ]);
  expect(taken?.steps.at(-1)?.output).toMatchObject({ email_id: sent[0]?.id });
});

test("a stopped automation lets nobody in, and goes on when it is enabled", async () => {
  const { automations, contacts, events } = server.resend;
  const wait: AutomationStep = { key: "wait", type: "delay", config: { duration: "1 week" } };
  const connections = [{ from: "start", to: "wait" }];
  const steps = [{ ...start, config: { eventName: "bought" } } as AutomationStep, wait];
  const { id } = dataOf(await automations.create({ name: "After a purchase", steps, connections }));
  const buy = async (email: string): Promise<number> => {
    await contacts.create({ email });
    dataOf(await events.send({ event: "bought", email }));
    await server.settle();
    return dataOf(await automations.runs.list({ automationId: id })).data.length;
  };
  expect(await buy("one@example.com")).toBe(0);
  dataOf(await automations.update(id, { status: "enabled" }));
  expect(await buy("two@example.com")).toBe(1);
  expect(dataOf(await automations.stop(id))).toMatchObject({ status: "disabled" });
  expect(await buy("three@example.com")).toBe(1);
  expect(dataOf(await automations.get(id)).steps).toContainEqual({ key: "wait", type: "delay", config: { duration: "7 days" } });
  expect(dataOf(await automations.list({ status: "disabled" })).data).toContainEqual(expect.objectContaining({ id }));
  dataOf(await automations.remove(id));
  expect((await automations.get(id)).error).toMatchObject({ statusCode: 404 });
});

test.each([
  ["a step that is not here", { key: "gone", type: "contact_delete", config: {} }, 501, "contact_delete"],
  ["variables of a template", { key: "m", type: "send_email", config: { template: { id: "t", variables: { a: 1 } } } }, 501, "variables"],
  ["a subject of its own", { key: "m", type: "send_email", config: { template: { id: "t" }, subject: "Hi" } }, 501, "subject"],
  ["a value that is a variable", { key: "u", type: "contact_update", config: { first_name: { var: "event.name" } } }, 501, "variable"],
  [
    "a condition over the event",
    { key: "c", type: "condition", config: { type: "rule", field: "event.n", operator: "gt", value: 1 } },
    501,
    "event.n",
  ],
  [
    "an unknown operator",
    { key: "c", type: "condition", config: { type: "rule", field: "contact.n", operator: "like", value: 1 } },
    501,
    "like",
  ],
  ["a rule that is none", { key: "c", type: "condition", config: { field: "contact.n" } }, 422, "steps[1].config"],
  ["a duration that is none", { key: "d", type: "delay", config: { duration: "soon" } }, 422, "steps[1].config.duration"],
  ["a wait without an end", { key: "w", type: "wait_for_event", config: { event_name: "x" } }, 422, "steps[1].config.timeout"],
  ["an unknown type", { key: "x", type: "call", config: {} }, 422, "type"],
])("%s is refused by its name", async (_name, step, status, part) => {
  const steps = [{ key: "start", type: "trigger", config: { event_name: "x" } }, step];
  const answer = await call(server, "POST", "/automations", { name: "Refused", steps, connections: [{ from: "start", to: step.key }] });
  expect([answer.status, answer.body]).toEqual([status, expect.objectContaining({ message: expect.stringContaining(part) })]);
});

test("an automation without a trigger, or with half of its graph, is refused", async () => {
  const step = { key: "wait", type: "delay", config: { duration: "1 hour" } };
  expect(await call(server, "POST", "/automations", { name: "None", steps: [step], connections: [] })).toMatchObject({ status: 422 });
  const half = await call(server, "PATCH", "/automations/00000000-0000-4000-8000-000000000000", { steps: [step] });
  expect(half).toMatchObject({ status: 422, body: { message: "Missing `connections` field." } });
});

test("a wait for an event has a rule over its payload", async () => {
  const steps = [
    { key: "start", type: "trigger", config: { event_name: "cart" } },
    {
      ...{ key: "paid", type: "wait_for_event" },
      config: { event_name: "paid", timeout: "2 hours", filter_rule: { type: "rule", field: "event.total", operator: "gte", value: 50 } },
    },
  ];
  const made = await call(server, "POST", "/automations", { name: "Carts", steps, connections: [{ from: "start", to: "paid" }] });
  expect(made).toMatchObject({ status: 201 });
  const shown = await call(server, "GET", `/automations/${(made.body as { id: string }).id}`);
  expect(shown.body).toMatchObject({
    steps: [
      {},
      { key: "paid", type: "wait_for_event", config: { event_name: "paid", timeout: "2 hours", filter_rule: { field: "event.total" } } },
    ],
  });
});
