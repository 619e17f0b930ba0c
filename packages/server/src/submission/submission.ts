export { type ApiMessageDeps, prepareApiMessage } from "./api-message.ts";
export type { SubmissionReport } from "./deps.ts";
export { SubmissionPorts } from "./ports.ts";
export { type SubmissionOptions, serveSubmission } from "./server.ts";
