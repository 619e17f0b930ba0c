export { type SubmissionOptions, serveSubmission } from "./server.ts";
