export { type CaseResult, type CheckOptions, type CheckReport, checkReceiver } from "./conformance/check.ts";
export { type AgentCheckOptions, checkAgent } from "./conformance/check-agent.ts";
export type { RunningAgent } from "./conformance/running-agent.ts";
