import type { DialectAnswer } from "../../http/dialect.ts";
import type { ApiError } from "../../lib/api-error.ts";

/** Fields that SendGrid names otherwise. */
const FIELDS: Readonly<Record<string, string>> = {
  replyTo: "reply_to",
  scheduledAt: "send_at",
  html: "content",
  text: "content",
  tags: "categories",
};

/** An error as SendGrid answers it: one entry for each fault, with its field as a path such as `personalizations.0.to`. */
export function describeError({ code, status, message, details, hint }: ApiError): DialectAnswer {
  const faults = details.length > 0 ? details : [{ path: "", message }];
  const help = code === "validation_error" ? null : hint;
  return { status, body: { errors: faults.map((fault) => ({ message: fault.message, field: toField(fault.path), help })) } };
}

function toField(path: string): string | null {
  if (path === "") return null;
  const steps = path
    .replace(/^emails\[/, "personalizations[")
    .replaceAll(/\[(\d+)\]/g, ".$1")
    .split(".");
  return steps.map((step) => FIELDS[step] ?? step).join(".");
}
