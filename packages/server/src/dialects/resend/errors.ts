import type { ErrorCode } from "@mailsvc/sdk/contract";
import type { DialectAnswer } from "../../http/dialect.ts";
import type { HeaderReader } from "../../http/headers.ts";
import type { ApiError } from "../../lib/api-error.ts";
import { spellIds } from "./ids.ts";

/** Names of Resend's errors. Its client for PHP takes an answer with any other name as a success. */
type ErrorName =
  | "missing_api_key"
  | "invalid_api_key"
  | "restricted_api_key"
  | "validation_error"
  | "missing_required_field"
  | "invalid_attachment"
  | "invalid_from_address"
  | "invalid_idempotency_key"
  | "invalid_idempotent_request"
  | "concurrent_idempotent_requests"
  | "not_found"
  | "method_not_allowed"
  | "rate_limit_exceeded"
  | "internal_server_error";

/** An error in the words of Resend. */
interface Wording {
  readonly name: ErrorName;
  readonly status: number;
}

const CAMEL_CASE = /\b[a-z]+(?:[A-Z][a-z]+)+\b/g;

const WORDINGS: Partial<Readonly<Record<ErrorCode, Wording>>> = {
  unauthorized: { name: "invalid_api_key", status: 401 },
  key_revoked: { name: "invalid_api_key", status: 401 },
  key_expired: { name: "invalid_api_key", status: 401 },
  forbidden: { name: "restricted_api_key", status: 401 },
  sender_not_verified: { name: "validation_error", status: 403 },
  not_found: { name: "not_found", status: 404 },
  template_not_found: { name: "not_found", status: 404 },
  method_not_allowed: { name: "method_not_allowed", status: 405 },
  idempotency_key_reused: { name: "invalid_idempotent_request", status: 409 },
  idempotency_in_progress: { name: "concurrent_idempotent_requests", status: 409 },
  rate_limited: { name: "rate_limit_exceeded", status: 429 },
  internal_error: { name: "internal_server_error", status: 500 },
  queue_failed: { name: "internal_server_error", status: 500 },
  not_implemented: { name: "method_not_allowed", status: 501 },
  storage_unavailable: { name: "internal_server_error", status: 503 },
};

/** Formats an error as Resend does. Its message spells fields as Resend does, and ends with the hint, which has no field of its own. */
export function describeError(error: ApiError, headers: HeaderReader): DialectAnswer {
  const known = findWording(error);
  const isWithoutKey = error.code === "unauthorized" && headers.get("authorization") === null;
  const { name, status } = isWithoutKey ? { ...known, name: "missing_api_key" } : known;
  const message = error.code === "validation_error" ? spellFields(listFaults(error), error) : `${error.message} ${error.hint}`;
  return { status, body: { statusCode: status, name, message: spellIds(message) } };
}

function findWording({ code, status, details }: ApiError): Wording {
  const known = WORDINGS[code];
  if (known) return known;
  if (status !== 400) return { name: "validation_error", status };
  const [first] = details;
  if (first?.path === "Idempotency-Key") return { name: "invalid_idempotency_key", status: 400 };
  if (first?.code === "required") return { name: "missing_required_field", status: 422 };
  if (first?.path.startsWith("attachments")) return { name: "invalid_attachment", status: 422 };
  return { name: first?.path === "from" ? "invalid_from_address" : "validation_error", status: 422 };
}

/** The first faults in one text: SDKs show nothing but the message. */
function listFaults({ message, details }: ApiError): string {
  const [first] = details;
  if (first?.code === "required" && first.path !== "") return `Missing \`${first.path}\` field.`;
  return details.length > 1
    ? details
        .slice(0, 5)
        .map((detail) => detail.message)
        .join(" ")
    : message;
}

/** A message with the fields that the error is about spelled as Resend spells them; what the caller wrote stays as it is. */
function spellFields(message: string, { details }: ApiError): string {
  const fields = new Set(details.flatMap(({ path }) => path.match(CAMEL_CASE) ?? []));
  return message.replace(CAMEL_CASE, (word) => (fields.has(word) ? toSnakeCase(word) : word));
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
