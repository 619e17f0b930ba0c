import type { DialectAnswer } from "../../http/dialect.ts";
import type { ApiError } from "../../lib/api-error.ts";

/** An error as SendGrid answers it: one entry for each fault, with its field as a path such as `personalizations.0.to`. */
export function describeError({ code, status, message, details, hint }: ApiError): DialectAnswer {
  const faults = details.length > 0 ? details : [{ path: "", message }];
  const help = code === "validation_error" ? null : hint;
  return {
    status,
    body: {
      errors: faults.map((fault) => ({ message: toField(fault.message), field: fault.path === "" ? null : toField(fault.path), help })),
    },
  };
}

/** A path with the places in lists as SendGrid writes them. */
function toField(path: string): string {
  return path.replaceAll(/\[(\d+)\]/g, ".$1");
}
