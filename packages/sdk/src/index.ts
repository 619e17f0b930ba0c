export { AgentClient, type AgentClientOptions } from "./agent-client.ts";
export { APIPromise, type ApiResponse as Answer, type SafeResult } from "./api-promise.ts";
export { type AttachmentInput, attachmentFromFile } from "./attachment.ts";
export {
  type AutomationGraph,
  type AutomationPath,
  type AutomationPiece,
  type AutomationSettings,
  type AutomationStart,
  automation,
  type StepFields,
} from "./automation-builder.ts";
export type { Base64Input } from "./call/binary.ts";
export type { HeaderInput } from "./call/headers.ts";
export { isTransient } from "./call/retry.ts";
export { createClient, Mailsvc } from "./client.ts";
export {
  AbortError,
  ApiError,
  type ApiErrorCode,
  ConnectionError,
  isApiError,
  isMailsvcError,
  MailsvcError,
  type RequestSummary,
  ResponseValidationError,
  TimeoutError,
  UsageError,
} from "./errors.ts";
export type { AgentMethods, MailsvcMethods } from "./methods.generated.ts";
export type { CallOptions, MailsvcOptions, RetryNotice, ValidateMode } from "./options.ts";
export { type ListPage, PagePromise } from "./pagination.ts";
export type { FetchLike, UndiciDispatcher } from "./platform/transport.ts";
export type { RawRequest, RawResponse } from "./raw-request.ts";
export { DEFAULT_URL } from "./runtime.ts";
export type * from "./types.generated.ts";
export type { FileInput, FileSource, FileUpload } from "./upload.ts";
export { VERSION } from "./version.ts";
export { type UnwrapOptions, type WebhookHeaders, WebhookVerificationError, webhooks } from "./webhooks.ts";
