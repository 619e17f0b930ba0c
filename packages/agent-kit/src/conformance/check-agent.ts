import { currentTime } from "../runtime.ts";
import { RecordingMarketplace } from "../testing/recording-marketplace.ts";
import { sampleEvent } from "../testing/sample-events.ts";
import { type CaseResult, type CheckOptions, type CheckReport, formatCurl, gradeReceiver, parseAddress, toReport } from "./check.ts";
import { sign } from "./requests.ts";
import type { RunningAgent } from "./running-agent.ts";
import { Stage } from "./stage.ts";
import type { Finding, StateCase } from "./state-case.ts";
import { STATE_CASES } from "./state-cases.ts";
import { TimeLimit } from "./time-limit.ts";

/** Options of `checkAgent`. */
export interface AgentCheckOptions extends Omit<CheckOptions, "secret"> {
  /**
   * Starts the agent with these variables, `AGENT_WEBHOOK_SECRET` and `MAILSVC_URL`, and resolves when its webhook listens. It is called
   * again after a kill; what the agent stored must still be there then.
   */
  start: (variables: Readonly<Record<string, string>>) => Promise<RunningAgent>;
  /** Time limit for an expected call. Default: 10 000 ms. */
  waitMs?: number | undefined;
  /** Time within which another process takes over what a killed one had begun, ms. Default: 60 000. */
  takeOverMs?: number | undefined;
  /** Time for which a paused agent is watched at least, ms; one that calls less often is watched for longer. Default: 3000. */
  quietMs?: number | undefined;
  /** Maximum silence of a run at work. Default: 120 000 ms. */
  heartbeatMs?: number | undefined;
}

/**
 * Grades a whole agent, in any language: starts it with its own marketplace, in this process, and grades its state (whether it
 * keeps the key it is shown once, stops when paused, resumes with the old key, sends heartbeats), then its webhook with the cases of
 * `checkReceiver`. Ends the agent. Needs @mailsvc/server. Throws what `start` throws, and TypeError for an address that is none.
 */
export async function checkAgent(options: AgentCheckOptions): Promise<CheckReport> {
  const { url, start, only, signal, onResult, limitMs, waitMs = 10_000, quietMs = 3000 } = options;
  const { takeOverMs = 60_000, heartbeatMs = 120_000 } = options;
  parseAddress(url);
  await using market = await RecordingMarketplace.create(url);
  const limit = new TimeLimit(limitMs);
  const variables = { AGENT_WEBHOOK_SECRET: market.secret, MAILSVC_URL: market.url };
  const stage = new Stage(market, { waitMs, takeOverMs, quietMs, heartbeatMs }, () => start(variables), signal);
  await stage.startAgent();
  try {
    const isWanted = ({ id }: { id: string }): boolean => only === undefined || id.includes(only);
    // Each case goes on from the one before it, so all are performed when one is asked for.
    const state = STATE_CASES.some(isWanted)
      ? await gradeState(stage, { url, limit }, (result) => isWanted(result) && onResult?.(result))
      : [];
    const results = await gradeReceiver({ url, secret: market.secret, only, signal, onResult }, limit);
    return toReport([...state.filter(isWanted), ...results]);
  } finally {
    await stage.killAgent();
  }
}

async function gradeState(
  stage: Stage,
  { url, limit }: { url: string; limit: TimeLimit },
  onResult: (result: CaseResult) => void,
): Promise<CaseResult[]> {
  const results = new Map<string, CaseResult>();
  const missed = new Set<string>();
  const late: (() => Promise<void>)[] = [];
  for (const one of STATE_CASES) {
    const from = currentTime();
    const missing = one.needs.find((id) => missed.has(id));
    const reason = limit.left === 0 ? limit.reason : missing === undefined ? null : `It needs ${missing}, which has not passed.`;
    const found = reason === null ? await one.perform(stage) : { skipped: reason };
    const judge = (finding: Finding): void => {
      const ms = Math.round(currentTime() - from);
      const result = toResult(one, finding, ms, () => formatCurl(sampleRequest(one, stage.market.secret), new URL(url)));
      results.set(one.id, result);
      onResult(result);
    };
    if (found !== null && typeof found === "object" && "later" in found) {
      late.push(async () => {
        const failed = one.needs.find((id) => missed.has(id));
        const finding = failed === undefined ? await found.later() : { skipped: `It needs ${failed}, which has not passed.` };
        if (isProblem(finding)) missed.add(one.id);
        judge(finding);
      });
      continue;
    }
    if (reason !== null || isProblem(found)) missed.add(one.id);
    judge(found);
  }
  for (const finish of late) await finish();
  return STATE_CASES.flatMap(({ id }) => results.get(id) ?? []);
}

function isProblem(found: Finding): boolean {
  return typeof found === "string" || (found !== null && "problem" in found);
}

function toResult({ id, title, mistake, fix }: StateCase, found: Finding, ms: number, curl: () => string): CaseResult {
  const base = { id, group: "state" as const, title, ms };
  if (found === null) return { ...base, passed: true, failure: null, skipped: null };
  if (typeof found === "string") return { ...base, passed: false, failure: { problem: found, mistake, fix, curl: curl() }, skipped: null };
  if ("skipped" in found) return { ...base, passed: false, failure: null, skipped: found.skipped };
  return { ...base, passed: false, failure: { ...found, curl: curl() }, skipped: null };
}

/** An event like the one the case is about. */
function sampleRequest({ event }: StateCase, secret: string) {
  return sign(JSON.stringify(sampleEvent(event)), secret, currentTime());
}
