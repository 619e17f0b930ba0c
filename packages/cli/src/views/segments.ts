import { describeDetails, type Segment, type SegmentPreview, type SegmentRule } from "@mailsvc/sdk/contract";
import { safeText } from "../text/safe-text.ts";
import { type Column, renderDetails, renderTable } from "../text/table.ts";
import { formatInstant, formatNumber, formatTimestamp } from "../text/units.ts";
import type { Session } from "../types.ts";
import { contactColumns } from "./contacts.ts";
import { paintStatus } from "./status.ts";
import type { View } from "./view.ts";

const columns: Column<Segment>[] = [
  { title: "id", value: (s) => s.id },
  { title: "name", value: (s) => s.name, flexible: true },
  { title: "state", value: (s) => s.state, paint: paintStatus },
  { title: "members", value: (s) => s.memberCount },
  { title: "created (utc)", value: (s) => formatTimestamp(s.createdAt), paint: (s, t) => s.dim(t), priority: 1 },
];

export const segmentViews: Readonly<Record<string, View>> = {
  "segments.list": { columns, empty: "No segments yet. Create one: mailsvc segments create --help" },
  "segments.create": { object: one },
  "segments.get": { object: one },
  "segments.update": { object: one },
  "segments.delete": { object: one },
  "segments.contacts": { columns: contactColumns },
  "segments.preview": { object: preview },
};

/** Formats a rule tree, one condition per line: `all of` and `any of` with their conditions indented below. */
function formatRules(rule: SegmentRule, indent: string): string[] {
  const group = (name: string, rules: readonly SegmentRule[]): string[] => [
    `${indent}${name}`,
    ...rules.flatMap((r) => formatRules(r, `${indent}  `)),
  ];
  if ("all" in rule) return group("all of", rule.all);
  if ("any" in rule) return group("any of", rule.any);
  if ("not" in rule) return group("not", [rule.not]);
  const { field, operator, value } = rule;
  const told = value === undefined ? "" : ` ${JSON.stringify(value)}`;
  return [`${indent}${safeText(`${field} ${operator}${told}${describeDetails(rule)}`)}`];
}

function one(s: Segment, { term: { out } }: Session): string {
  return [
    renderDetails(
      [
        ["id", s.id],
        ["name", s.name],
        ["description", s.description],
        ["state", s.state],
        ["members", s.state === "READY" ? s.memberCount : `${s.memberCount} so far`],
        ["created", formatInstant(s.createdAt)],
        ["updated", formatInstant(s.updatedAt)],
      ],
      out,
    ),
    `${out.bold("Rules")}\n${formatRules(s.rules, "  ").join("\n")}`,
  ].join("\n\n");
}

function preview(p: SegmentPreview, { term: { out, columns: width } }: Session): string {
  const shown = p.countIsMinimum ? `${formatNumber(p.count)}+` : `${p.count}`;
  const count = `${shown} ${p.count === 1 ? "contact" : "contacts"}`;
  if (p.contacts.length === 0) return count;
  const newest = p.contacts.length < p.count ? `${count}; the newest ${p.contacts.length}:` : `${count}:`;
  return `${newest}\n\n${renderTable(p.contacts, contactColumns, out, width)}`;
}
