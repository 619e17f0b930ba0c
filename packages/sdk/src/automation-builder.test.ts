import { expect, expectTypeOf, test } from "vitest";
import {
  type AutomationOccurrence,
  type AutomationStep,
  type AutomationTrigger,
  listBranches,
  type MailsvcContract,
  NewAutomation,
  type OCCURRENCE_TYPES,
  STEP_TYPES,
  type TRIGGER_TYPES,
} from "./contract/index.ts";
import { automation, type StepFields, UsageError } from "./index.ts";

const created = { type: "contact.created" } as const;
const isCustomer = { field: "tags", operator: "contains", value: "customer" } as const;
const mail = { templateId: "tpl_1" };

test("a chain of steps is the definition that is written by hand", () => {
  const built = automation("Welcome", { goal: { type: "tag.added", tag: "customer" }, currency: "EUR" })
    .trigger(created)
    .email("hello", { templateId: "tpl_1", from: "news@acme.example" })
    .wait("3d")
    .step("tag", { type: "add_tag", tag: "greeted" })
    .build();
  expect(built).toEqual({
    name: "Welcome",
    trigger: { type: "contact.created" },
    goal: { type: "tag.added", tag: "customer" },
    currency: "EUR",
    steps: [
      { id: "hello", type: "send_email", templateId: "tpl_1", from: "news@acme.example" },
      { id: "wait-3d", type: "delay", for: "3d" },
      { id: "tag", type: "add_tag", tag: "greeted" },
    ],
    connections: [
      { from: "trigger", to: "hello" },
      { from: "hello", to: "wait-3d" },
      { from: "wait-3d", to: "tag" },
    ],
  });
  expect(NewAutomation.parse(built)).toEqual(built);
  expectTypeOf(built).toEqualTypeOf<NewAutomation>();
  expectTypeOf(built).toExtend<Parameters<typeof NewAutomation.parse>[0]>();
  expectTypeOf<MailsvcContract["automations"]["create"]["body"]>().toEqualTypeOf<typeof NewAutomation>();
});

test("branches go their own ways and meet again, unless they end or go elsewhere", () => {
  const built = automation("Branches")
    .trigger(created)
    .waitForEvent("opened", { event: { type: "event", name: "email.opened" }, timeout: "7d" }, { timeout: (path) => path.end() })
    .branch("is-customer", isCustomer, {
      yes: (path) => path.exit("customer"),
      no: (path) =>
        path.split(
          "half",
          { a: 1, b: 3 },
          { a: (inner) => inner.email("a-mail", mail), b: (inner) => inner.wait("1d").goTo("is-customer") },
        ),
    })
    .email("last", mail)
    .build();
  expect(built.steps.map(({ id }) => id)).toEqual(["opened", "is-customer", "exit-customer", "half", "a-mail", "wait-1d", "last"]);
  expect(built.steps[3]).toEqual({
    id: "half",
    type: "split",
    branches: [
      { name: "a", weight: 1 },
      { name: "b", weight: 3 },
    ],
  });
  expect(built.connections).toEqual([
    { from: "trigger", to: "opened" },
    { from: "opened", branch: "event", to: "is-customer" },
    { from: "is-customer", branch: "yes", to: "exit-customer" },
    { from: "is-customer", branch: "no", to: "half" },
    { from: "half", branch: "a", to: "a-mail" },
    { from: "half", branch: "b", to: "wait-1d" },
    { from: "wait-1d", to: "is-customer" },
    { from: "a-mail", to: "last" },
  ]);
  expect(NewAutomation.safeParse(built).success).toBe(true);
});

test("branches that exit for the same reason share a step", () => {
  const built = automation("Any")
    .trigger(created)
    .split("half", { a: 1, b: 1, c: 1 }, { a: (path) => path.exit("done"), b: (path) => path.exit("done"), c: (path) => path.exit() })
    .build();
  expect(built.steps.map(({ id }) => id)).toEqual(["half", "exit-done", "exit"]);
  expect(built.connections.slice(1)).toEqual([
    { from: "half", branch: "a", to: "exit-done" },
    { from: "half", branch: "b", to: "exit-done" },
    { from: "half", branch: "c", to: "exit" },
  ]);
});

test("each type of step that leads to branches has its own method", () => {
  const sample = (type: (typeof STEP_TYPES)[number]) => ({ id: "x", type, branches: [] }) as unknown as AutomationStep;
  const branching = STEP_TYPES.filter((type) => listBranches(sample(type)) !== null);
  expect(branching).toEqual(["wait_for_event", "condition", "split"]);
  expectTypeOf<StepFields["type"]>().toEqualTypeOf<Exclude<AutomationStep["type"], "wait_for_event" | "condition" | "split">>();
});

test("the lists of types name all steps, goals and triggers", () => {
  expectTypeOf<(typeof STEP_TYPES)[number]>().toEqualTypeOf<AutomationStep["type"]>();
  expectTypeOf<(typeof OCCURRENCE_TYPES)[number]>().toEqualTypeOf<AutomationOccurrence["type"]>();
  expectTypeOf<(typeof TRIGGER_TYPES)[number]>().toEqualTypeOf<AutomationTrigger["type"]>();
});

test("a path can be the beginning of several automations", () => {
  const start = automation("Start").trigger(created).email("hello", mail);
  expect(start.wait("1d").build().steps).toHaveLength(2);
  expect(start.wait("2d").email("two", mail).build().steps).toHaveLength(3);
  expect(start.build().steps).toHaveLength(1);
});

test("what the types cannot see is refused by build, naming the steps", () => {
  const twice = automation("Twice")
    .trigger(created)
    .branch("is-customer", isCustomer, { yes: (path) => path.email("mail", mail), no: (path) => path.email("mail", mail) });
  expect(() => twice.build()).toThrow(UsageError);
  expect(() => twice.build()).toThrow('The automation "Twice" is not valid. Two steps have the id "mail". Rename one of them.');
  const loop = automation("Loop").trigger(created).email("hello", mail).goTo("hello");
  expect(() => loop.build()).toThrow("go round without a wait");
});

test("types catch steps and branches that are not there", () => {
  const path = automation("Types").trigger(created).email("hello", mail).wait("1d");
  const never = (_: () => void): void => {};
  never(() => {
    // @ts-expect-error two steps with one id
    path.email("hello", mail);
    // @ts-expect-error the second wait of a day needs an id
    path.wait("1d");
    path.wait("1d", "wait-again");
    // @ts-expect-error there is no step "nowhere"
    path.goTo("nowhere").build();
    path.goTo("hello").build();
    // A step after the branch is one, too.
    path
      .branch("is-customer", isCustomer, { yes: (way) => way.goTo("bye") })
      .email("other", mail)
      .email("bye", mail)
      .build();
    // @ts-expect-error no step "bye" follows
    path.branch("is-customer", isCustomer, { yes: (way) => way.goTo("bye") }).build();
    // @ts-expect-error a condition has no branch "maybe"
    path.branch("is-customer", isCustomer, { yes: (way) => way.end(), maybe: (way: typeof path) => way.end() });
    // @ts-expect-error the split has no branch "c"
    path.split("half", { a: 1, b: 1 }, { a: (way) => way.end(), c: (way: typeof path) => way.end() });
    // @ts-expect-error nothing follows an exit
    path.exit("bye").email("more", mail);
    // @ts-expect-error an id inside of a branch
    path.branch("is-customer", isCustomer, { yes: (way) => way.email("hello", mail) });
    // @ts-expect-error no such type of step
    path.step("x", { type: "send_mail", templateId: "tpl_1" });
    // @ts-expect-error a field is missing
    path.step("x", { type: "add_tag" });
    // @ts-expect-error no such operator
    path.branch("x", { field: "tags", operator: "has", value: "x" }, {});
    // @ts-expect-error the trigger comes first
    automation("Types").email("hello", mail);
  });
  expect(path.build().steps).toHaveLength(2);
});
