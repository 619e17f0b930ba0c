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
export type { HeaderInput } from "./call/headers.ts";
export { isTransient } from "./call/retry.ts";
export type { FetchLike } from "./call/transport.ts";
export { createClient, Mailsvc } from "./client.ts";
export type * from "./contract/index.ts";
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
export type { InputOf, Method, MethodArgs, Methods, PathArguments, SendMethod } from "./methods.ts";
export type { CallOptions, MailsvcOptions, RetryNotice, ValidateMode } from "./options.ts";
export { type ListPage, PagePromise } from "./pagination.ts";
export type { RawRequest, RawResponse } from "./raw-request.ts";
export { DEFAULT_URL, VERSION } from "./runtime.ts";
export { type UnwrapOptions, type WebhookHeaders, WebhookVerificationError, webhooks } from "./unwrap.ts";
export type { Base64Input, FileInput, FileSource } from "./upload.ts";
