import type { MailsvcContract, Output, Relay } from "@mailsvc/sdk/contract";
import { describeRelayState } from "@mailsvc/sdk/contract/facts";
import { safeText } from "../text/safe-text.ts";
import { type Column, renderDetails, wrapText } from "../text/table.ts";
import { formatInstant } from "../text/units.ts";
import type { Session } from "../types.ts";
import { paintStatus } from "./status.ts";
import type { View } from "./view.ts";

const columns: Column<Relay>[] = [
  { title: "name", value: (r) => r.name },
  { title: "host", value: (r) => `${r.host}:${r.port}`, flexible: true },
  { title: "tls", value: (r) => r.tls, priority: 1 },
  { title: "login", value: describeLogin, flexible: true, priority: 2 },
  { title: "falls back to", value: (r) => r.fallback.join(", "), priority: 3 },
  { title: "state", value: describeRelayState, paint: paintStatus },
  { title: "reason", value: (r) => r.reason ?? "", flexible: true },
];

export const relayViews: Readonly<Record<string, View>> = {
  "relays.list": { columns, empty: "No relay: mail is captured. Add one: mailsvc relays add --help" },
  "relays.get": { object: one },
  "relays.add": { object: one },
  "relays.update": { object: one },
  "relays.pause": { object: one },
  "relays.resume": { object: one },
  "relays.remove": { object: removed },
  "relays.test": { object: tested },
};

function describeLogin({ auth, user, oauth }: Relay): string {
  if (auth === "none") return "";
  return `${user ?? ""} by ${auth === "password" ? "password" : `OAuth2 (${oauth ?? "custom"})`}`.trim();
}

function one(r: Relay, { term: { out } }: Session): string {
  return renderDetails(
    [
      ["name", r.name],
      ["host", `${r.host}:${r.port}`],
      ["tls", r.tls === "off" || r.verify ? r.tls : `${r.tls}, any certificate`],
      ["login", describeLogin(r)],
      ["dkim", (r.dkim ?? []).map(({ domain, selector }) => `${selector}._domainkey.${domain}`).join(", ")],
      ["pace", r.ratePerSecond === null ? "" : `${r.ratePerSecond} a second`],
      ["connections", r.connections],
      ["falls back to", r.fallback.join(", ")],
      ["workspace", r.workspaceId],
      ["state", describeRelayState(r)],
      ["last answer", formatInstant(r.answeredAt)],
      ["reason", r.reason],
      ["since", formatInstant(r.since)],
      ["comes from", r.source === "api" ? "" : r.source],
    ],
    out,
  );
}

function removed(r: Relay, { term: { out } }: Session): string {
  return `${out.green("removed")} ${safeText(r.name)}  ${out.dim(safeText(`${r.host}:${r.port}`))}`;
}

const STATUS = 6;
const STEP = 9;

/** Each step on a line, and below one that failed what to do. */
function tested({ steps }: Output<MailsvcContract["relays"]["test"]>, { term: { out, columns: width } }: Session): string {
  const indent = " ".repeat(STATUS + STEP);
  const wrapped = (text: string): string => wrapText(safeText(text), Math.max(20, width - indent.length)).replaceAll("\n", `\n${indent}`);
  return steps
    .flatMap(({ step, ok, detail, hint, ms }) => {
      const status = ok ? "ok" : "fail";
      const words = `${paintStatus(out, status)}${" ".repeat(STATUS - status.length)}${out.bold(step.padEnd(STEP))}${wrapped(detail)}`;
      return [`${words}${out.dim(`  ${Math.round(ms)} ms`)}`, ...(hint === null ? [] : [indent + out.dim(wrapped(hint))])];
    })
    .join("\n");
}
