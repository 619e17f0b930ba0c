export { type CaseResult, type CheckOptions, type CheckReport, checkReceiver } from "./conformance/check.ts";
