import { automation } from "@mailsvc/sdk";
import type { NewAutomation } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { type GraphLine, layOutGraph } from "./graph-layout.ts";

const rule = { field: "tags", operator: "contains", value: "vip" } as const;
const mail = { templateId: "tpl_1" };
const start = automation("A").trigger({ type: "contact.created" });

function draw(definition: NewAutomation): string[] {
  return layOutGraph(definition).map((line) => line.indent + label(line));
}

function label(line: GraphLine): string {
  if (line.kind === "trigger") return "trigger";
  if (line.kind === "step") return line.step.id;
  const to = line.to === undefined ? "" : ` ${line.back ? "↑" : "→"} ${line.to}`;
  return line.kind === "branch" ? line.name + to : to.trim();
}

test("a chain is a column", () => {
  expect(draw(start.email("one", mail).wait("1d").email("two", mail).build())).toEqual(["trigger", "one", "wait-1d", "two"]);
});

test("branches that meet again go on without an indent, and one without steps leads there", () => {
  const both = start.branch("ask", rule, { yes: (path) => path.email("a", mail).wait("1d"), no: (path) => path.email("b", mail) });
  expect(draw(both.email("last", mail).build())).toEqual([
    "trigger",
    "ask",
    "├─ yes",
    "│  a",
    "│  wait-1d",
    "│  → last",
    "├─ no",
    "│  b",
    "│  → last",
    "last",
  ]);
  const one = start.branch("ask", rule, { no: (path) => path.email("b", mail) }).email("last", mail);
  expect(draw(one.build())).toEqual(["trigger", "ask", "├─ yes → last", "├─ no", "│  b", "│  → last", "last"]);
});

test("the longest of branches that never meet goes on without an indent, others and those that end are shown as such", () => {
  const split = start.split(
    "third",
    { a: 1, b: 1, c: 1 },
    { a: (path) => path.email("a", mail).end(), b: (path) => path.wait("1d").email("b", mail).end(), c: (path) => path.end() },
  );
  expect(draw(split.build())).toEqual(["trigger", "third", "├─ a", "│  a", "├─ b → wait-1d", "├─ c → null", "wait-1d", "b"]);
  const equal = start.branch("ask", rule, { yes: (path) => path.exit("x", "x"), no: (path) => path.exit("y", "y") });
  expect(draw(equal.build())).toEqual(["trigger", "ask", "├─ yes", "│  x", "╰─ no", "   y"]);
});

test("loops lead back up, and branches can be nested", () => {
  const loop = start
    .wait("1d")
    .branch("ask", rule, {
      no: (path) => path.split("half", { a: 1, b: 1 }, { a: (inner) => inner.goTo("wait-1d"), b: (inner) => inner.email("b", mail) }),
    })
    .email("last", mail);
  expect(draw(loop.build())).toEqual([
    "trigger",
    "wait-1d",
    "ask",
    "├─ yes → last",
    "├─ no",
    "│  half",
    "│  ├─ a ↑ wait-1d",
    "│  ├─ b → b",
    "│  b",
    "│  → last",
    "last",
  ]);
});

test("every step is drawn once, whatever the graph", () => {
  const steps: NewAutomation["steps"] = Array.from({ length: 100 }, (_, i) => ({ id: `s${i}`, type: "condition", rule }));
  const connections = steps.flatMap(({ id }, i) => [
    { from: id, branch: "yes", to: `s${(i * 7 + 3) % 100}` },
    { from: id, branch: "no", to: `s${(i + 1) % 100}` },
  ]);
  const lines = layOutGraph({ steps, connections: [{ from: "trigger", to: "s0" }, ...connections] });
  const drawn = lines.flatMap((line) => (line.kind === "step" ? [line.step.id] : []));
  expect(new Set(drawn).size).toBe(100);
  expect(drawn).toHaveLength(100);
});
