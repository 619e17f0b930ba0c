import type { ClockState, Fault, MailsvcContract, Output } from "@mailsvc/sdk/contract";
import { labelTimer } from "@mailsvc/sdk/contract/timer-labels";
import { safeText } from "../text/safe-text.ts";
import { type Column, renderTable } from "../text/table.ts";
import { formatBytes, formatTimestamp } from "../text/units.ts";
import type { Session } from "../types.ts";
import { paintStatus } from "./status.ts";
import type { View } from "./view.ts";

const faultColumns: Column<Fault>[] = [
  { title: "id", value: (f) => f.id },
  { title: "on", value: (f) => describePlace(f), flexible: true },
  {
    title: "what",
    value: (f) =>
      [[f.code, f.enhancedCode, f.text].filter(Boolean).join(" "), f.drop ? "drop" : "", f.delayMs > 0 ? `delay ${f.delayMs} ms` : ""]
        .filter(Boolean)
        .join(", "),
    flexible: true,
  },
  { title: "when", value: (f) => f.when },
  { title: "rate", value: (f) => f.rate },
  { title: "hits", value: (f) => (f.count === undefined ? f.hits : `${f.hits}/${f.count}`) },
];

const snapshotColumns: Column<Output<MailsvcContract["world"]["snapshot"]>>[] = [
  { title: "name", value: (s) => s.name, flexible: true },
  { title: "taken (utc)", value: (s) => formatTimestamp(s.takenAt), paint: (s, t) => s.dim(t) },
  { title: "size", value: (s) => formatBytes(s.size) },
];

const clockViews = Object.fromEntries(["show", "freeze", "advance", "next", "thaw"].map((verb) => [`clock.${verb}`, { object: clock }]));

export const worldViews: Readonly<Record<string, View>> = {
  ...clockViews,
  "faults.list": { columns: faultColumns },
  "faults.add": { object: faultMade },
  "world.snapshots": { columns: snapshotColumns },
};

/** The requests or the step of SMTP that a rule is for. */
function describePlace({ smtp, on, address, method, path }: Fault): string {
  if (smtp === undefined) return `${method ?? "*"} ${path}`;
  return [`smtp ${smtp}`, on === "delivery" ? "of deliveries" : "", address ?? ""].filter(Boolean).join(" ");
}

function clock(state: ClockState, { term: { out, columns } }: Session): string {
  const fired = renderTable(
    state.fired,
    [
      { title: "when (utc)", value: (f) => formatTimestamp(f.at), paint: (s, t) => s.dim(t) },
      { title: "what ran", value: (f) => labelTimer(f.name), flexible: true },
    ],
    out,
    columns,
  );
  return [
    ...(state.fired.length > 0 ? [fired, ""] : []),
    `${formatTimestamp(state.now)} UTC  ${paintStatus(out, state.mode)}`,
    state.next
      ? `next   ${formatTimestamp(state.next.at)}  ${safeText(labelTimer(state.next.name))}  ${out.dim(`(${state.timers} waiting)`)}`
      : out.dim("No timers."),
  ].join("\n");
}

function faultMade(fault: Fault, { term: { out, columns } }: Session): string {
  return renderTable([fault], faultColumns, out, columns);
}
