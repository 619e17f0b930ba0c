import { listDefinitionFaults, STEP_TYPES } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import type { Definition } from "../src/parts/automations/definition.ts";
import {
  connect,
  findEarlier,
  findLater,
  listSteps,
  moveEarlier,
  moveLater,
  removeStep,
  replaceStep,
} from "../src/parts/automations/edits.ts";
import { labelField, setField } from "../src/parts/automations/fields.ts";
import { addStep } from "../src/parts/automations/snippets.ts";
import { NEW_STEPS, OCCURRENCE_FIELDS, STEP_FIELDS, TRIGGER_FIELDS } from "../src/parts/automations/step-fields.generated.ts";
import { TRIGGERS } from "../src/parts/automations/words.ts";

const tag = (id: string) => ({ id, type: "add_tag" as const, tag: id });

/** first → is-gold; yes: gold → last, no: plain → last. */
const GOLD: Definition = {
  steps: [
    tag("first"),
    { id: "is-gold", type: "condition", rule: { field: "tags", operator: "contains", value: "gold" } },
    tag("gold"),
    tag("plain"),
    tag("last"),
  ],
  connections: [
    { from: "trigger", to: "first" },
    { from: "first", to: "is-gold" },
    { from: "is-gold", to: "gold", branch: "yes" },
    { from: "is-gold", to: "plain", branch: "no" },
    { from: "gold", to: "last" },
    { from: "plain", to: "last" },
  ],
};

const draw = ({ connections }: Definition): string[] =>
  connections.map(({ from, to, branch }) => `${from}${branch === undefined ? "" : ` ${branch}`} > ${to}`).sort();

const outline = (definition: Definition): string[] =>
  listSteps(definition).map(
    ({ step, depth, branch, isReached }) => `${"  ".repeat(depth)}${branch === null ? "" : `${branch}: `}${step.id}${isReached ? "" : "?"}`,
  );

test("the form has the fields of each kind of step, trigger and event that the contract has", () => {
  expect(Object.keys(STEP_FIELDS)).toEqual([...STEP_TYPES]);
  expect(Object.keys(TRIGGER_FIELDS).sort()).toEqual(Object.keys(TRIGGERS).sort());
  expect(Object.keys(OCCURRENCE_FIELDS).every((type) => type in TRIGGER_FIELDS)).toBe(true);
  for (const type of STEP_TYPES) {
    const required = STEP_FIELDS[type]?.filter((field) => field.required).map(({ name }) => name) ?? [];
    expect(Object.keys(NEW_STEPS[type].fields), type).toEqual(expect.arrayContaining(required));
  }
  expect(labelField("timeZone")).toBe("Time zone");
});

test("an empty field is left out unless it is needed, and the others keep their places", () => {
  const step = { id: "x", type: "send_email", templateId: "tpl_1", from: "a@b.c" };
  expect(setField(step, { name: "from", kind: "text" }, "")).toEqual({ id: "x", type: "send_email", templateId: "tpl_1" });
  expect(setField(step, { name: "templateId", kind: "text", required: true }, "")).toEqual({ ...step, templateId: "" });
  expect(Object.keys(setField(step, { name: "templateId", kind: "text" }, "tpl_2"))).toEqual(["id", "type", "templateId", "from"]);
});

test("steps are listed as contacts take them, branch by branch, and those that nobody reaches come last", () => {
  expect(outline(GOLD)).toEqual(["first", "is-gold", "  yes: gold", "  last", "  no: plain"]);
  expect(outline(connect(GOLD, "first", null, null))).toEqual(["first", "is-gold?", "gold?", "plain?", "last?"]);
});

test("a step that is removed leaves its place to the one that followed it", () => {
  expect(draw(removeStep(GOLD, "first"))).toContain("trigger > is-gold");
  expect(outline(removeStep(GOLD, "is-gold"))).toEqual(["first", "gold", "last", "plain?"]);
  expect(draw(removeStep(GOLD, "last"))).toEqual(["first > is-gold", "is-gold no > plain", "is-gold yes > gold", "trigger > first"]);
});

test("a step moves before the one that leads to it, and back", () => {
  const moved = moveEarlier(GOLD, "gold");
  expect(outline(moved)).toEqual(["first", "gold", "is-gold", "  yes: last", "  no: plain"]);
  expect(listDefinitionFaults(moved)).toEqual([]);
  expect(findEarlier(GOLD, "first")).toBeNull();
  expect(moveEarlier(GOLD, "first")).toBe(GOLD);
  expect(outline(moveLater(moved, "gold"))).toEqual(outline(GOLD));
  const condition = moveEarlier(GOLD, "is-gold");
  expect(outline(condition)).toEqual(["is-gold", "  yes: first", "  gold", "  last", "  no: plain"]);
  expect(listDefinitionFaults(condition)).toEqual([]);
  expect(findLater(GOLD, "plain")).toBeNull();
});

test("a step that gets another id, or a branch another name, keeps its ways", () => {
  const [first, isGold] = GOLD.steps as [(typeof GOLD.steps)[0], (typeof GOLD.steps)[0]];
  expect(draw(replaceStep(GOLD, "first", { ...first, id: "begin" }))).toEqual(
    expect.arrayContaining(["begin > is-gold", "trigger > begin"]),
  );
  const split = {
    id: "is-gold",
    type: "split" as const,
    branches: [
      { name: "yes", weight: 1 },
      { name: "b", weight: 1 },
    ],
  };
  const asSplit = replaceStep(GOLD, isGold.id, split);
  expect(draw(asSplit)).not.toContain("is-gold no > plain");
  const renamed = replaceStep(asSplit, isGold.id, {
    ...split,
    branches: [
      { name: "a", weight: 1 },
      { name: "b", weight: 1 },
    ],
  });
  expect(draw(renamed)).toContain("is-gold a > gold");
});

test("a new step goes into the branch that was chosen, before what stood there", () => {
  const added = addStep(GOLD, "delay", "is-gold", {}, "no");
  expect(outline(added)).toEqual(["first", "is-gold", "  yes: gold", "  last", "  no: delay", "  plain"]);
  expect(listDefinitionFaults(added)).toEqual([]);
});
