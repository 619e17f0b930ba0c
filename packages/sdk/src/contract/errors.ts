import { z } from "zod";

/**
 * Every error code of the API with its HTTP status (SPEC 7) and a hint on how to fix it.
 * A code has one status; only `template_error` can also be a 500, for a fault of the server.
 */
export const ERRORS = {
  validation_error: { status: 400, hint: "Correct the fields listed in details and send the request again." },
  sender_not_verified: { status: 400, hint: "Verify the address or its domain first: mailsvc senders create --email you@example.com" },
  recipient_suppressed: {
    status: 400,
    hint: "The recipient bounced, complained or unsubscribed; see: mailsvc suppressions list. bypassUnsubscribe reaches people who unsubscribed",
  },
  email_suppressed: { status: 400, hint: "This address is on the suppression list; see: mailsvc suppressions list" },
  missing_variables: { status: 400, hint: "Supply every variable named in details." },
  template_error: { status: 400, hint: "Open the template, correct it and publish it again." },
  idempotency_key_required: { status: 400, hint: "Send an Idempotency-Key header, so that retrying the request cannot act twice." },
  unauthorized: { status: 401, hint: "Send a valid key: Authorization: Bearer ms_live_…" },
  key_revoked: { status: 401, hint: "This key was revoked permanently. Create a new one: mailsvc keys create" },
  invalid_signature: { status: 401, hint: "Sign the raw request body with the secret of this endpoint, and send the body unchanged." },
  insufficient_credits: { status: 402, hint: "Ask the brand to add credits." },
  plan_limit_reached: { status: 402, hint: "Change to a plan that covers more agents: mailsvc plans change --plan scale" },
  forbidden: { status: 403, hint: "Use a key that has the permission named in the message." },
  activation_paused: { status: 403, hint: "Stop calling until agent.resumed arrives; the same key then works again." },
  not_found: { status: 404, hint: "Check the id; it may belong to another workspace." },
  template_not_found: { status: 404, hint: "Check the slug and that the template is active." },
  method_not_allowed: { status: 405, hint: "The Allow header lists the methods of this path." },
  conflict: { status: 409, hint: "Read the current state and decide again." },
  already_active: { status: 409, hint: "The agent is active in this workspace; details name its activation." },
  id_reused: { status: 409, hint: "Repeat the original request unchanged, or use another id." },
  limit_reached: { status: 409, hint: "End, cancel or delete one of them first." },
  already_refunded: { status: 409, hint: "Refund at most what is left of the transaction." },
  duplicate_contact: { status: 409, hint: "Update the existing contact instead." },
  slug_taken: { status: 409, hint: "Choose another slug." },
  approval_required: { status: 409, hint: "Post an APPROVAL_REQUEST whose preview names the page, and publish once the brand approves." },
  storage_quota_exceeded: { status: 409, hint: "Ask the brand to delete files that are no longer needed." },
  pause_not_clearable: {
    status: 409,
    hint: "You cannot clear the reasons in details: a plan that covers the agent clears plan_downgrade, the brand clears user_paused.",
  },
  invalid_state: { status: 409, hint: "The resource is in another state by now; read it again." },
  idempotency_key_reused: { status: 409, hint: "Use a new Idempotency-Key for a different request." },
  idempotency_in_progress: { status: 409, hint: "The first request with this key is still running; retry shortly." },
  version_mismatch: { status: 412, hint: "Read the resource again and apply your change to the current version." },
  payload_too_large: { status: 413, hint: "Send a smaller body." },
  unsupported_media_type: { status: 415, hint: "Send JSON with Content-Type: application/json." },
  unsupported_file_type: { status: 422, hint: "Send a file of a supported type." },
  type_mismatch: { status: 422, hint: "Use the file name and content type that match the file's content." },
  corrupt_file: { status: 422, hint: "The file is corrupt or incomplete; export it again." },
  rate_limited: { status: 429, hint: "Wait for the number of seconds in Retry-After." },
  internal_error: { status: 500, hint: "Retry; if it persists, report the request id." },
  queue_failed: { status: 500, hint: "Nothing was queued. Retry with the same Idempotency-Key." },
  payment_provider_error: { status: 502, hint: "Nothing was charged. Try again; if it persists, check the provider's status page." },
  not_ready: { status: 503, hint: "Send the same request again in a minute; finished work is not repeated." },
  storage_unavailable: {
    status: 503,
    hint: "The database cannot be written at the moment; nothing was stored. Retry after the time in Retry-After.",
  },
} as const satisfies Record<string, { status: number; hint: string }>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

/** One invalid part of a request: its path (`to[3]`, `headers.X-Id`), a code and a message. */
export const ErrorDetail = z.object({
  path: z.string().meta({ description: "Path of the invalid field, e.g. to[3]; empty for the request as a whole" }),
  code: z.string(),
  message: z.string(),
  line: z.int().optional().meta({ description: "Line of the error in the field's text, from 1, if it has lines" }),
  column: z.int().optional().meta({ description: "Column of the error in its line, from 1" }),
});
export type ErrorDetail = z.infer<typeof ErrorDetail>;

/** The body of every response other than 2xx (SPEC 7). */
export const ErrorBody = z
  .object({
    error: z.object({
      code: z.enum(ERROR_CODES),
      message: z.string(),
      status: z.int(),
      requestId: z.string(),
      details: z.array(ErrorDetail),
      hint: z.string(),
    }),
  })
  .meta({ id: "Error" });
export type ErrorBody = z.infer<typeof ErrorBody>;
