/**
 * Every error code of the API with its HTTP status, what causes it, and a hint on how to fix it.
 * A code has one status; only `template_error` can also be a 500, for a fault of the server.
 */
export const ERRORS = {
  validation_error: {
    status: 400,
    cause: "The request has missing, unknown or invalid fields, or is not valid JSON. The details name each field.",
    hint: "Correct the fields listed in details and send the request again.",
  },
  sender_not_verified: {
    status: 400,
    cause: "Neither the address in from nor its domain is a verified sender of the workspace.",
    hint: "Verify the address or its domain first: mailsvc senders create --email you@example.com",
  },
  recipient_suppressed: {
    status: 400,
    cause: "The only recipient of the request, or every one of them, is on the suppression list of the workspace.",
    hint: "The recipient bounced, complained or unsubscribed; see: mailsvc suppressions list. bypassUnsubscribe reaches people who unsubscribed",
  },
  batch_refused: {
    status: 400,
    cause: "Emails of a strict batch were refused, for different reasons. None of the batch was queued; the details name each fault.",
    hint: "Correct the emails named in details, or send with mode permissive, which queues all others.",
  },
  email_suppressed: {
    status: 400,
    cause: "The contact's address is on the suppression list, so the contact cannot be subscribed.",
    hint: "This address is on the suppression list; see: mailsvc suppressions list",
  },
  missing_variables: {
    status: 400,
    cause: "The template uses variables that the request does not give and that have no default.",
    hint: "Supply every variable named in details.",
  },
  template_error: {
    status: 400,
    cause: "The template cannot be rendered: its syntax is wrong, it is of a type that cannot be sent, or the result is empty.",
    hint: "Open the template, correct it and publish it again.",
  },
  idempotency_key_required: {
    status: 400,
    cause: "This call spends credits, and the request has no Idempotency-Key.",
    hint: "Send an Idempotency-Key header, so that retrying the request cannot act twice.",
  },
  unauthorized: {
    status: 401,
    cause: "The request has no key, or one that this server does not know: it is misspelt, or belongs to another server.",
    hint: "Send a valid key: Authorization: Bearer ms_live_…",
  },
  key_revoked: {
    status: 401,
    cause: "The key was revoked, or its agent was deactivated.",
    hint: "This key was revoked permanently. Create a new one: mailsvc keys create",
  },
  key_expired: {
    status: 401,
    cause: "The key had an end, which has passed.",
    hint: "This key has expired. Create a new one: mailsvc keys create",
  },
  invalid_signature: {
    status: 401,
    cause: "The signature of a provider's webhook does not match the body. The secret differs, or a proxy changed the body.",
    hint: "Sign the raw request body with the secret of this endpoint, and send the body unchanged.",
  },
  insufficient_credits: {
    status: 402,
    cause: "The workspace has fewer credits than the agent wants to spend, or the agent has reached its monthly limit.",
    hint: "Ask the brand to add credits.",
  },
  plan_limit_reached: {
    status: 402,
    cause: "The brand's plan covers as many agents as are active already.",
    hint: "Change to a plan that covers more agents: mailsvc plans change --plan scale",
  },
  forbidden: {
    status: 403,
    cause: "The key is valid, but lacks the permission, or is of the wrong kind: an agent's key on a brand's endpoint, for example.",
    hint: "Use a key that has the permission named in the message.",
  },
  activation_paused: {
    status: 403,
    cause: "The brand, or a change of its plan, paused the agent.",
    hint: "Stop calling until agent.resumed arrives; the same key then works again.",
  },
  not_found: {
    status: 404,
    cause: "There is nothing with this id or at this path, or it belongs to another workspace, or it was deleted.",
    hint: "Check the id; it may belong to another workspace.",
  },
  dev_only: {
    status: 404,
    cause: "The call exists in dev mode only, and this server is in production: there is no inbox of captured mail, and no clock to move.",
    hint: "Start a server in dev mode: mailsvc dev",
  },
  template_not_found: {
    status: 404,
    cause: "No active template of the workspace has this slug, or it has never been published.",
    hint: "Check the slug and that the template is active.",
  },
  method_not_allowed: {
    status: 405,
    cause: "The path exists, but not with this method.",
    hint: "The Allow header lists the methods of this path.",
  },
  conflict: {
    status: 409,
    cause:
      "The request contradicts stored data: the name is taken, another object still uses this one, or another request changed it first.",
    hint: "Read the current state and decide again.",
  },
  already_active: {
    status: 409,
    cause: "The brand has turned this agent on before, and has not deactivated it since.",
    hint: "The agent is active in this workspace; details name its activation.",
  },
  id_reused: {
    status: 409,
    cause: "The id that the caller chose, such as an externalId or a runId, was used before with another request.",
    hint: "Repeat the original request unchanged, or use another id.",
  },
  limit_reached: {
    status: 409,
    cause: "As many exist as are allowed; the message says how many that is.",
    hint: "End, cancel or delete one of them first.",
  },
  already_refunded: {
    status: 409,
    cause: "The refund is larger than what is left of the transaction.",
    hint: "Refund at most what is left of the transaction.",
  },
  duplicate_contact: {
    status: 409,
    cause: "The workspace has a contact with this address.",
    hint: "Update the existing contact instead.",
  },
  slug_taken: {
    status: 409,
    cause: "Another listing or page has this slug.",
    hint: "Choose another slug.",
  },
  approval_required: {
    status: 409,
    cause: "The brand approves pages before they are published, and this version has not been approved.",
    hint: "Post an APPROVAL_REQUEST whose preview names the page, and publish once the brand approves.",
  },
  storage_quota_exceeded: {
    status: 409,
    cause: "The files of the agent or of the workspace would take more space than they may.",
    hint: "Ask the brand to delete files that are no longer needed.",
  },
  pause_not_clearable: {
    status: 409,
    cause: "The agent is paused for a reason that the caller has no right to clear.",
    hint: "You cannot clear the reasons in details: a plan that covers the agent clears plan_downgrade, the brand clears user_paused.",
  },
  invalid_state: {
    status: 409,
    cause: "The resource exists, but its state does not allow this: a sent email cannot be cancelled.",
    hint: "The resource is in another state by now; read it again.",
  },
  idempotency_key_reused: {
    status: 409,
    cause: "A different request has used this Idempotency-Key within the last 24 hours.",
    hint: "Use a new Idempotency-Key for a different request.",
  },
  idempotency_in_progress: {
    status: 409,
    cause: "A request with the same Idempotency-Key is still being worked on.",
    hint: "The first request with this key is still running; retry shortly.",
  },
  version_mismatch: {
    status: 412,
    cause: "Somebody has changed the resource since the version that the request names.",
    hint: "Read the resource again and apply your change to the current version.",
  },
  request_timeout: {
    status: 408,
    cause: "The request did not arrive whole in time.",
    hint: "Send the head within ten seconds and the body within five minutes.",
  },
  expectation_failed: {
    status: 417,
    cause: "The request has an Expect header that is not 100-continue.",
    hint: "Leave the Expect header out.",
  },
  headers_too_large: {
    status: 431,
    cause: "The head of the request is larger than the server accepts.",
    hint: "Send fewer and shorter headers, and a shorter address.",
  },
  payload_too_large: {
    status: 413,
    cause: "The body is larger than the server, or this endpoint, accepts.",
    hint: "Send a smaller body.",
  },
  unsupported_media_type: {
    status: 415,
    cause: "The Content-Type is missing or not one that this endpoint reads.",
    hint: "Send JSON with Content-Type: application/json.",
  },
  unsupported_file_type: {
    status: 422,
    cause: "The file is of a type that is not accepted here.",
    hint: "Send a file of a supported type.",
  },
  type_mismatch: {
    status: 422,
    cause: "The file's name or Content-Type stands for another type than its first bytes.",
    hint: "Use the file name and content type that match the file's content.",
  },
  corrupt_file: {
    status: 422,
    cause: "The file is cut off or damaged.",
    hint: "The file is corrupt or incomplete; export it again.",
  },
  rate_limited: {
    status: 429,
    cause: "The key has made more requests than its limit allows, or this address has tried too many unknown keys.",
    hint: "Wait for the number of seconds in Retry-After.",
  },
  internal_error: {
    status: 500,
    cause: "The server has a bug or was interrupted. Its log has the request id.",
    hint: "Retry; if it persists, report the request id.",
  },
  queue_failed: {
    status: 500,
    cause: "The email could not be written to the queue.",
    hint: "Nothing was queued. Retry with the same Idempotency-Key.",
  },
  not_implemented: {
    status: 501,
    cause: "An API of another service, such as /resend, was asked for something that only that service has.",
    hint: "GET /resend and GET /sendgrid list what is there.",
  },
  payment_provider_error: {
    status: 502,
    cause: "The payment provider did not answer, or refused.",
    hint: "Nothing was charged. Try again; if it persists, check the provider's status page.",
  },
  not_ready: {
    status: 503,
    cause: "The server depends on something that is not there yet, such as the end of an email's delivery.",
    hint: "Send the same request again in a minute; finished work is not repeated.",
  },
  storage_unavailable: {
    status: 503,
    cause: "The disk is full, the database is not reached, or it is too busy.",
    hint: "The database cannot be written at the moment; nothing was stored. Retry after the time in Retry-After.",
  },
} as const satisfies Record<string, { status: number; cause: string; hint: string }>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = /* @__PURE__ */ Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];
