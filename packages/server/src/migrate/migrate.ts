export { assertNotMoved, copyToPostgres } from "./copy.ts";
export { JOBS, readJobs } from "./jobs.ts";
export { CopyRefused, type CopyReport } from "./report.ts";
