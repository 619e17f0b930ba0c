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
  sender_not_verified: { type: "MessageRejected", status: 400 },
  recipient_suppressed: { type: "MessageRejected", status: 400 },
  conflict: { type: "AlreadyExistsException", status: 400 },
  slug_taken: { type: "AlreadyExistsException", status: 400 },
};

/** Words for all other errors, by their status: AWS's programs try again by it. */
const BY_STATUS: Readonly<Record<number, Wording>> = {
  401: { type: "UnrecognizedClientException", status: 403 },
  403: { type: "AccessDeniedException", status: 403 },
  404: { type: "NotFoundException", status: 404 },
  408: { type: "RequestTimeoutException", status: 408 },
  409: { type: "ConflictException", status: 409 },
  429: { type: "TooManyRequestsException", status: 429 },
  501: { type: "UnknownOperationException", status: 501 },
  503: { type: "ServiceUnavailableException", status: 503 },
};

function toWording({ code, status }: Pick<ApiError, "code" | "status">): Wording {
  const known = WORDINGS[code] ?? BY_STATUS[status];
  if (known) return known;
  return status >= 500 ? { type: "InternalServiceErrorException", status } : { type: "BadRequestException", status: 400 };
}

/** Formats an error as AWS does. Its message ends with the hint, which has no field of its own. */
export function describeError(error: ApiError, headers: HeaderReader): DialectAnswer {
  const known = toWording(error);
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
