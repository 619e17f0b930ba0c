import type { ErrorCode } from "@mailsvc/sdk/contract";
import type { DialectAnswer } from "../../http/dialect.ts";
import type { HeaderReader } from "../../http/headers.ts";
import type { ApiError } from "../../lib/api-error.ts";

/** An error in the words of AWS. */
interface Wording {
  readonly type: string;
  readonly status: number;
}

const WORDINGS: Partial<Readonly<Record<ErrorCode, Wording>>> = {
  unauthorized: { type: "UnrecognizedClientException", status: 403 },
  key_revoked: { type: "UnrecognizedClientException", status: 403 },
  forbidden: { type: "AccessDeniedException", status: 403 },
  sender_not_verified: { type: "MessageRejected", status: 400 },
  recipient_suppressed: { type: "MessageRejected", status: 400 },
  not_found: { type: "NotFoundException", status: 404 },
  template_not_found: { type: "NotFoundException", status: 404 },
  conflict: { type: "AlreadyExistsException", status: 400 },
  rate_limited: { type: "TooManyRequestsException", status: 429 },
  internal_error: { type: "InternalServiceErrorException", status: 500 },
  queue_failed: { type: "InternalServiceErrorException", status: 500 },
  storage_unavailable: { type: "ServiceUnavailableException", status: 503 },
  not_implemented: { type: "UnknownOperationException", status: 501 },
};

/** Formats an error as AWS does. Its message ends with the hint, which has no field of its own. */
export function describeError(error: ApiError, headers: HeaderReader): DialectAnswer {
  const known = WORDINGS[error.code] ?? { type: "BadRequestException", status: 400 };
  const isWithoutKey = error.code === "unauthorized" && headers.get("authorization") === null;
  const type = isWithoutKey ? "MissingAuthenticationTokenException" : known.type;
  return { status: known.status, body: { __type: type, message: describe(error) }, headers: { "x-amzn-errortype": type } };
}

/** The code of AWS for a failed entry of a bulk send. */
export function toBulkStatus(code: ErrorCode): string {
  if (code === "sender_not_verified") return "MAIL_FROM_DOMAIN_NOT_VERIFIED";
  if (code === "template_not_found") return "TEMPLATE_NOT_FOUND";
  return code === "validation_error" || code === "missing_variables" || code === "template_error" ? "INVALID_PARAMETER" : "FAILED";
}

function describe({ code, message, details, hint }: ApiError): string {
  if (code !== "validation_error") return `${message} ${hint}`;
  return details.length > 1
    ? details
        .slice(0, 5)
        .map((detail) => detail.message)
        .join(" ")
    : message;
}
