export { assertNotMoved, copyToPostgres } from "./copy.ts";
export { CopyRefused, type CopyReport } from "./report.ts";
