import { AutomationStep, CAMPAIGN_STATUSES, STEP_TYPES, TRIGGER_TYPES } from "@mailsvc/sdk/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listEdges } from "../src/parts/automations/definition.ts";
import { listOutlets } from "../src/parts/automations/edits.ts";
import { lineOf, locate } from "../src/parts/automations/json-position.ts";
import { NODE, place } from "../src/parts/automations/layout.ts";
import { addStep } from "../src/parts/automations/snippets.ts";
import { NEW_STEPS } from "../src/parts/automations/step-fields.generated.ts";
import { describeDuration, describeRule, describeStep, sayOccurrence, sayStep, TRIGGERS } from "../src/parts/automations/words.ts";
import { buildCsv } from "../src/parts/campaigns/csv.ts";
import { fillSeries } from "../src/parts/campaigns/series.ts";
import { CAMPAIGN_STATES } from "../src/parts/campaigns/states.ts";
import { toInstant, toLocal } from "../src/parts/campaigns/zoned-time.ts";
import { formatReplyTo, parseReplyTo } from "../src/parts/reply-to.ts";
import { splitVariables } from "../src/parts/subject-parts.ts";

type Step = Parameters<typeof describeStep>[0];
const stepOf = (type: Step["type"]): Step => ({ id: "x", type, ...NEW_STEPS[type].fields }) as Step;

test("the dashboard knows the states and triggers of the contract, and begins each kind of step as one that the server takes", () => {
  expect(CAMPAIGN_STATES.map(({ value }) => value)).toEqual(CAMPAIGN_STATUSES);
  expect(Object.keys(TRIGGERS).sort()).toEqual([...TRIGGER_TYPES].sort());
  for (const type of STEP_TYPES) {
    expect(AutomationStep.safeParse(stepOf(type)), type).toMatchObject({ success: true });
    expect(describeStep(stepOf(type), new Map()).kind).not.toBe("");
  }
  const names = new Map([["list_1", "Readers"]]);
  expect(describeStep({ id: "x", type: "add_to_list", listId: "list_1" }, names)).toEqual({ kind: "Add to list", what: "“Readers”" });
});

test.each([
  ["Spring is here", ["Spring is here"]],
  ["{{firstName}}, spring is here", ["", "{{firstName}}", ", spring is here"]],
  ['For {{default firstName "you"}}: {{{code}}}', ["For ", '{{default firstName "you"}}', ": ", "{{{code}}}", ""]],
  ["{{unclosed} {{", ["{{unclosed} {{"]],
])("the variables of the subject %s are told from its words", (subject, parts) => {
  expect(splitVariables(subject)).toEqual(parts);
});

describe("times in a zone", () => {
  test.each([
    ["2030-03-01T09:00", "Europe/Berlin", "2030-03-01T08:00:00.000Z"],
    ["2030-07-01T09:00", "America/New_York", "2030-07-01T13:00:00.000Z"],
    ["2030-07-01T09:00", "Asia/Kolkata", "2030-07-01T03:30:00.000Z"],
    ["2030-01-01T00:30", "Pacific/Kiritimati", "2029-12-31T10:30:00.000Z"],
  ])("%s in %s", (local, zone, instant) => {
    expect(new Date(toInstant(local, zone)).toISOString()).toBe(instant);
    expect(toLocal(Date.parse(instant), zone)).toBe(local);
  });

  test("an hour that the clocks jump over is that after the jump, and one that they show twice is one of the two", () => {
    expect(new Date(toInstant("2030-03-31T02:30", "Europe/Berlin")).toISOString()).toBe("2030-03-31T01:30:00.000Z");
    expect(toLocal(toInstant("2030-10-27T02:30", "Europe/Berlin"), "Europe/Berlin")).toBe("2030-10-27T02:30");
  });
});

test("the place of a finding is that of its value, and of the nearest part that is there", () => {
  const text = JSON.stringify({ trigger: { type: 'a\\"}' }, steps: [{ id: "a" }, { id: "b", for: [1, -2.5e3, null, true] }] }, null, 2);
  const at = (path: string): string => text.slice(locate(text, path) ?? 0).split("\n")[0] ?? "";
  expect(at("steps[1].id")).toBe('"b",');
  expect(at("steps[1].for[1]")).toBe("-2500,");
  expect(at("steps[0].templateId")).toBe("{");
  expect(at("trigger.type")).toBe('"a\\\\\\"}"');
  expect(lineOf(text, locate(text, "steps[1].id") ?? 0)).toBe(10);
  expect(locate("{ no json", "steps")).toBeNull();
  expect(locate("{}", "steps[3].id")).toBe(0);
});

test("a series has no gaps", () => {
  const point = (at: string, sent: number) => ({ at, sent }) as Parameters<typeof fillSeries>[0][number];
  const filled = fillSeries([point("2030-01-01T10:00:00.000Z", 3), point("2030-01-01T13:00:00.000Z", 1)], "hour");
  expect(filled.map(({ at, sent }) => [at.slice(11, 13), sent])).toEqual([
    ["10", 3],
    ["11", 0],
    ["12", 0],
    ["13", 1],
  ]);
  expect(fillSeries([], "day")).toEqual([]);
});

test("a CSV file quotes what must be quoted, and no cell is a formula", () => {
  const rows = [
    ["a,b", 'say "hi"', null, 3],
    ["=HYPERLINK(1)", "+1", "two\nlines", true],
  ];
  expect(buildCsv(["to", "why", "at", "n"], rows)).toBe(
    'to,why,at,n\r\n"a,b","say ""hi""",,3\r\n\'=HYPERLINK(1),\'+1,"two\nlines",true\r\n',
  );
});

test("what a condition asks is said in the words of the rule builder, and lists by their names", () => {
  const rule = {
    all: [
      { field: "tags", operator: "exists", value: false },
      { not: { field: "lists", operator: "contains", value: "list_1" } },
      {
        any: [
          { field: "customFields.plan", operator: "equals", value: "pro" },
          { field: "lastOpenedAt", operator: "withinLast", value: "30d" },
        ],
      },
    ],
  };
  expect(describeRule(rule, new Map([["list_1", "Newsletter"]]))).toBe(
    "Tags are empty and not Lists include Newsletter and (plan is pro or Last opened an email within the last 30d)",
  );
});

test.each(["a@acme.example", "a@acme.example,", "a@acme.example, ", "a@acme.example, b@acme.example", "auto", ""])(
  "the line %j for replies can be typed, and corrected letter by letter",
  (line) => {
    expect(formatReplyTo(parseReplyTo(line))).toBe(line);
  },
);

test("several addresses for replies are one line", () => {
  expect(formatReplyTo(["a@acme.example", "b@acme.example"])).toBe("a@acme.example, b@acme.example");
  expect(formatReplyTo(null)).toBe("");
});

test("durations are words", () => {
  expect([describeDuration("1d"), describeDuration("90m"), describeDuration("1h30m")]).toEqual([
    "1 day",
    "90 minutes",
    "1 hour 30 minutes",
  ]);
});

describe("the graph of an automation", () => {
  const wait = { id: "wait", type: "wait_for_event", event: { type: "replied" }, timeout: "3d" } as const;
  const series = {
    steps: [wait, { id: "tag", type: "add_tag", tag: "late" } as const],
    connections: [
      { from: "trigger", to: "wait" },
      { from: "wait", to: "tag", branch: "timeout" },
      { from: "tag", to: "wait" },
    ],
  };

  test("shows where a branch ends, and goes round in cycles", () => {
    expect(listEdges(series)).toContainEqual({ from: "wait", to: null, branch: "event" });
    const { nodes, edges } = place(series);
    expect(nodes.filter(({ isEnd }) => !isEnd).map(({ id }) => id)).toEqual(["trigger", "wait", "tag"]);
    expect(edges).toHaveLength(4);
    const [trigger, first] = nodes;
    expect(trigger && first && trigger.y < first.y).toBe(true);
    for (const { path } of edges) expect(path).toMatch(/^M[\d.,-]+(?:Q[\d.,-]+ [\d.,-]+)*L[\d.,-]+$/);
  });

  test("draws steps that are called like what every object has", () => {
    const steps = ["constructor", "toString", "hasOwnProperty", "__proto__"].map((id) => ({ id, type: "delay" as const, for: "1d" }));
    const connections = steps.map(({ id }, i) => ({ from: steps[i - 1]?.id ?? "trigger", to: id }));
    const { nodes, edges } = place({ steps, connections });
    expect(nodes.map(({ id }) => id)).toEqual(["trigger", ...steps.map(({ id }) => id)]);
    expect(edges.map(({ from, to }) => ({ from, to }))).toEqual(connections);
  });

  test("of a hundred steps has none on top of another", () => {
    const steps = Array.from({ length: 100 }, (_, i) => ({ id: `s${i}`, type: "delay" as const, for: "1d" }));
    const connections = steps.map(({ id }, i) => ({ from: i === 0 ? "trigger" : `s${i - 1}`, to: id }));
    const { nodes } = place({ steps, connections });
    expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(101);
  });

  test("takes a new step between two, and gives it an id of its own", () => {
    const once = addStep(series, "delay", "trigger", {});
    expect(once.connections).toContainEqual({ from: "trigger", to: "delay" });
    expect(once.connections).toContainEqual({ from: "delay", to: "wait" });
    const twice = addStep(once, "condition", "delay", {});
    expect(twice.connections).toContainEqual({ from: "condition", to: "wait", branch: "yes" });
    expect(addStep(twice, "delay", "wait", {}).steps.at(-1)?.id).toBe("delay-2");
    expect(addStep({ steps: [wait], connections: [{ from: "trigger", to: "wait" }] }, "exit", "wait", {}).connections).toContainEqual({
      from: "wait",
      to: "exit",
      branch: "event",
    });
  });
});

test("a step and a trigger are sentences", () => {
  const names = new Map([
    ["tpl_1", "Welcome"],
    ["list_1", "Readers"],
  ]);
  const step = (fields: object) => sayStep({ id: "x", ...fields } as Step, names);
  expect(step({ type: "send_email", templateId: "tpl_1" })).toBe("Send “Welcome”");
  expect(step({ type: "wait_for_event", timeout: "3d", event: { type: "event", name: "email.opened" } })).toBe(
    "Wait up to 3 days until the contact opens a mail",
  );
  expect(step({ type: "delay", for: "3d" })).toBe("Wait 3 days");
  const when = (trigger: object) => sayOccurrence(trigger as Parameters<typeof sayOccurrence>[0], names, "a contact");
  expect(when({ type: "contact.created" })).toBe("a contact is created");
  expect(when({ type: "list.joined", listId: "list_1" })).toBe("a contact joins the list Readers");
  expect(when({ type: "tag.added", tag: "vip" })).toBe("the tag vip is added");
  expect(when({ type: "event", name: "purchase" })).toBe("the event purchase happens");
  expect(when({ type: "date", field: "birthday", yearly: true })).toBe("birthday comes, every year");
  expect(when({ type: "date", field: "birthday", days: -3 })).toBe("it is 3 days before birthday");
});

test("no two steps of a graph touch, whatever it looks like", () => {
  const types = ["exit", "split", "condition", "delay", "wait_for_event"] as const;
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...types), fc.nat(99), fc.nat(2)), { minLength: 2, maxLength: 14 }), (made) => {
      let definition: Parameters<typeof addStep>[0] = { steps: [], connections: [] };
      for (const [type, after, way] of made) {
        const ids = ["trigger", ...definition.steps.filter((one) => one.type !== "exit").map(({ id }) => id)];
        const from = ids[after % ids.length] ?? "trigger";
        const outlets = listOutlets(definition.steps, from);
        definition = addStep(definition, type, from, {}, outlets[way % outlets.length] ?? null);
      }
      const { nodes, edges } = place(definition);
      const isIn = (a: number, b: number, room: number): boolean => Math.abs(a - b) < room;
      const steps = nodes.filter(({ isEnd }) => !isEnd);
      for (const [i, a] of steps.entries())
        for (const b of steps.slice(i + 1)) expect(isIn(a.x, b.x, NODE.width + 12) && isIn(a.y, b.y, NODE.height + 12)).toBe(false);
      for (const { middle } of edges)
        for (const { x, y } of steps) expect(isIn(middle.x, x, NODE.width / 2) && isIn(middle.y, y, NODE.height / 2)).toBe(false);
    }),
    { numRuns: 60 },
  );
});
