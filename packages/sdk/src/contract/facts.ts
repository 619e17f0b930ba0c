// Contract without its schemas. The command line's overview and its server load only this, because zod and the schemas take as long to
// load as everything else of theirs.
export { listBranches } from "./automation-branches.ts";
export { BLOCK_LIMITS } from "./block-text.ts";
export * from "./contact-fields.ts";
export { DURATION, durationMs } from "./duration.ts";
export { EMAIL_STATES, EMAIL_STATUSES } from "./email-states.ts";
export { type Endpoint, isForAgents, paramNames } from "./endpoint.ts";
export { ERRORS, type ErrorCode } from "./errors.ts";
export { findInexactNumber } from "./inexact-number.ts";
export { isLoopbackHost } from "./loopback.ts";
export { describeRelayState } from "./relay-states.ts";
export * from "./rule-fields.ts";
export { findOtherAt } from "./taken-paths.ts";
