import type { RequestRecord } from "@mailsvc/sdk/contract";
import { safeText } from "../text/safe-text.ts";
import type { Column } from "../text/table.ts";
import { formatTimestamp } from "../text/units.ts";
import { truncate } from "../text/width.ts";
import type { Style } from "../types.ts";
import type { View } from "./view.ts";

const columns: Column<RequestRecord>[] = [
  { title: "when (utc)", value: (r) => formatTimestamp(r.at), paint: (s, t) => s.dim(t) },
  { title: "status", value: (r) => r.status, paint: paintStatus },
  { title: "request", value: (r) => `${r.method} ${r.path}`, flexible: true },
  { title: "error", value: (r) => r.error ?? "" },
  { title: "key", value: describeKey },
  { title: "ms", value: (r) => r.ms },
];

export const requestViews: Readonly<Record<string, View>> = {
  "requests.list": { columns, empty: "No requests yet. Follow them as they come: mailsvc requests tail" },
};

/** A request as one line, for a terminal that follows them. */
export function formatRequestLine(request: RequestRecord, style: Style, width: number): string {
  const { at, status, method, path, error, ms } = request;
  const when = formatTimestamp(at).slice(11);
  const rest = [error, `${ms} ms`, describeKey(request)].filter(Boolean).join("  ");
  const what = truncate(safeText(`${method.padEnd(6)} ${path}`), Math.max(20, width - when.length - rest.length - 9));
  return `${style.dim(when)}  ${paintStatus(style, String(status))}  ${what}  ${error === null ? style.dim(rest) : style.red(rest)}`;
}

/** The name of the key, or its beginning and end. */
function describeKey({ key }: RequestRecord): string {
  if (key === null) return "no key";
  return safeText(key.name ?? key.preview ?? key.id ?? "");
}

function paintStatus(style: Style, text: string): string {
  return text.startsWith("5") ? style.red(text) : text.startsWith("4") ? style.yellow(text) : style.green(text);
}
