import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parser } from "@prometheus-io/lezer-promql";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { anchorsOf } from "./markdown.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

const docs = fileURLToPath(new URL("../docs/", import.meta.url));
const { groups } = parse(readFileSync(`${docs}prometheus-rules.yml`, "utf8")) as { groups: { name: string; rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules.map((rule) => [rule.alert, rule] as const));

/** Returns the positions of PromQL errors, in characters. `serve.test.ts` tests that the metrics exist. */
function errorsIn(expression: string): number[] {
  const places: number[] = [];
  parser.parse(expression).iterate({ enter: ({ type, from }) => void (type.isError && places.push(from)) });
  return places;
}

const { panels } = JSON.parse(readFileSync(`${docs}grafana-dashboard.json`, "utf8")) as {
  panels: { title: string; targets: { expr: string }[] }[];
};

test.each(panels)("$title is a panel whose expressions Prometheus understands", ({ targets }) => {
  expect(targets.map(({ expr }) => errorsIn(expr))).toEqual(targets.map(() => []));
});

test("errors in an expression are found", () => expect(errorsIn("rate(mailsvc_x[5m] > 1")).not.toEqual([]));

test("no two alerts have one name", () => expect(new Set(rules.map(([name]) => name)).size).toBe(rules.length));

test.each(rules)("%s is an alert that Prometheus understands, with a chapter that says what to do", (_name, rule) => {
  expect(Object.keys(rule).filter((key) => !["alert", "expr", "for", "labels", "annotations"].includes(key))).toEqual([]);
  expect(errorsIn(rule.expr), rule.expr).toEqual([]);
  expect(rule.for ?? "1m").toMatch(/^\d+[smhd]$/);
  expect(["page", "ticket"]).toContain(rule.labels.severity);
  const [page = "", anchor] = rule.annotations.runbook.split("#");
  expect(anchorsOf(`${docs}${page}`)).toContain(anchor);
});
