import type { AuditEntry } from "@mailsvc/sdk/contract";
import type { Column } from "../text/table.ts";
import { formatTimestamp } from "../text/units.ts";
import type { View } from "./view.ts";

const columns: Column<AuditEntry>[] = [
  { title: "when (utc)", value: ({ at }) => formatTimestamp(at), paint: (style, text) => style.dim(text) },
  { title: "who", value: ({ actor }) => actor.name ?? actor.id ?? actor.kind },
  { title: "action", value: ({ action }) => action },
  { title: "what", value: ({ name, object }) => name ?? object ?? "", flexible: true },
  { title: "changes", value: ({ changes }) => changes.map(describeChange).join("; "), flexible: true, priority: 1 },
];

export const auditViews: Readonly<Record<string, View>> = {
  "audit.list": { columns, empty: "No changes yet." },
};

/** `status: ACTIVE → PAUSED`; for what was set first, without the empty value before. */
function describeChange({ field, before, after }: AuditEntry["changes"][number]): string {
  return before === null ? `${field}: ${toText(after)}` : `${field}: ${toText(before)} → ${toText(after)}`;
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
