export { AgentClient, type AgentClientOptions } from "./agent-client.ts";
export { createClient, Mailsvc } from "./client.ts";
export * from "./contract/index.ts";
export { DEFAULT_URL, VERSION } from "./defaults.ts";
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
export type { HeaderInput } from "./headers.ts";
export type { InputOf, Method, MethodArgs, Methods, PathArguments, SendMethod } from "./methods.ts";
export type { CallOptions, MailsvcOptions, RetryNotice, ValidateMode } from "./options.ts";
export { PagePromise } from "./paginate.ts";
export { type Answer, APIPromise, type SafeResult } from "./promise.ts";
export type { RawRequest, RawResponse } from "./raw.ts";
export { isTransient } from "./retry.ts";
export type { FetchLike } from "./transport.ts";
export type { FileInput, FileSource } from "./upload.ts";
