export { copyToPostgres } from "./copy.ts";
export { JOBS, readJobs } from "./jobs.ts";
export { CopyRefused } from "./report.ts";
