import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CaseResult, CheckOptions, CheckReport } from "@mailsvc/agent-kit/conformance";
import { Argument, Command, Option } from "commander";
import { type AgentProcess, startAgent } from "../agent-dev/agent-process.ts";
import { readEnvFile } from "../agent-dev/env-file.ts";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { renderJunit } from "../runtime/junit.ts";
import { buildReportOption, parseReports, writeReport } from "../runtime/reports.ts";
import { parseDuration } from "../runtime/settings.ts";
import { safeText } from "../text/safe-text.ts";
import type { Session } from "../types.ts";

const CHECK_REPORTS = ["junit", "json"] as const;

const RENDER: Readonly<Record<(typeof CHECK_REPORTS)[number], (report: CheckReport) => string>> = {
  junit: toJunit,
  json: (report) => `${JSON.stringify(report, null, 2)}\n`,
};

/** `mailsvc agent check`: grades the webhook of an agent in any language; with --start also what it does over the life of an activation. */
export function agentCheckCommand(run: Run): Command {
  const command = new Command("check")
    .description("Grade an agent: signatures, unknown events, duplicates, hostile requests; with --start its keys, pauses and heartbeats")
    .addArgument(new Argument("<url>", "Where the webhook listens, for example http://localhost:3000/webhook"))
    .addOption(new Option("--secret <secret>", "The secret it verifies with (default AGENT_WEBHOOK_SECRET, also in .env)"))
    .addOption(new Option("--start <command>", "Start the agent with this command and a marketplace made for it, and grade its state too"))
    .addOption(new Option("--heartbeat-limit <seconds>", "With --start: how long a run at work may be silent").default("120"))
    .addOption(new Option("--time-limit <duration>", "How long the whole check may take, such as 30m (default 10m, with --start 20m)"))
    .addOption(new Option("--strict", "Fail when something could not be graded, too"))
    .addOption(new Option("-v, --verbose", "Show what the agent prints"))
    .addOption(new Option("--only <text>", "Only cases whose id contains this"))
    .addOption(
      new Option("--output <format>", "pretty, json or junit (default pretty on a terminal, json in a pipe)").choices([
        "pretty",
        "json",
        "junit",
      ]),
    )
    .addOption(buildReportOption(CHECK_REPORTS))
    .addHelpText(
      "after",
      '\nExamples:\n  mailsvc agent check http://localhost:3000/webhook --secret $AGENT_WEBHOOK_SECRET\n  mailsvc agent check http://localhost:3000/webhook --start "python3 agent.py"\n\nWithout --start it needs no activation: its events name act_sample. With it, the command gets AGENT_WEBHOOK_SECRET,\nMAILSVC_URL, AGENT_MASTER_KEY and AGENT_DATA (a file for its data), and is killed and started again. Exit code 11 when a case failed,\nwith --strict also when one was not graded.',
    );
  return runAction(command, run, "local", async (session, [url], flags): Promise<Exit> => {
    if (!/^https?:\/\/./.test(String(url)) || !URL.canParse(String(url)))
      throw usageError(`${safeText(String(url))} is not an http:// or https:// address.`);
    const format = flags["output"] ?? (session.out.json ? "json" : "pretty");
    const wanted = parseReports(flags["report"], CHECK_REPORTS);
    const only = flags["only"] === undefined ? undefined : String(flags["only"]);
    const progress = session.progress("Checking");
    const onResult = ({ id }: CaseResult): void => progress.update(id);
    const limitMs = parseDuration(String(flags["timeLimit"] ?? (flags["start"] === undefined ? "10m" : "20m")), "--time-limit");
    const options = { url: String(url), only, limitMs, signal: session.signal, onResult };
    const report = await check(session, flags, options).finally(() => progress.stop());
    if (report.results.length === 0) throw usageError(`No case has ${safeText(only ?? "")} in its id.`);
    for (const { kind, file } of wanted) await writeReport(file, RENDER[kind](report));
    if (format === "json" || format === "junit") await session.out.text(RENDER[format](report));
    else await session.out.text(renderReport(report, session));
    if (flags["start"] === undefined)
      session.out.note(session.term.err.dim("Keys, pauses and heartbeats were not graded: --start COMMAND does that."));
    const isWhole = report.skipped === 0 || flags["strict"] !== true;
    if (!isWhole && format === "pretty") session.out.note(`${report.skipped} not graded: with --strict that fails.`);
    return report.failed === 0 && isWhole ? EXIT.ok : EXIT.partial;
  });
}

async function check(session: Session, flags: Flags, options: Omit<CheckOptions, "secret">): Promise<CheckReport> {
  const { checkAgent, checkReceiver } = await import("@mailsvc/agent-kit/conformance");
  const { start, secret: given } = flags;
  if (typeof start === "string") {
    if (given !== undefined) throw usageError("--secret: with --start the agent gets its own secret, in AGENT_WEBHOOK_SECRET.");
    const seconds = Number(flags["heartbeatLimit"]);
    if (!(seconds > 0)) throw usageError("--heartbeat-limit: a number of seconds is needed.");
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-agent-check-"));
    try {
      const own = {
        AGENT_MASTER_KEY: session.host.randomBytes(32).toString("base64"),
        AGENT_DATA: join(folder, "agent.db"),
      };
      return await checkAgent({
        ...options,
        heartbeatMs: seconds * 1000,
        start: (variables) => startOnce(session, start, options.url, { ...own, ...variables }, flags["verbose"] === true),
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const secret = given ?? (session.host.env["AGENT_WEBHOOK_SECRET"] || readEnvFile(join(session.host.cwd, ".env"))["AGENT_WEBHOOK_SECRET"]);
  if (typeof secret !== "string" || secret === "")
    throw usageError("--secret is needed.", { hint: "Or set AGENT_WEBHOOK_SECRET, also in .env, or let --start COMMAND start the agent." });
  return checkReceiver({ ...options, secret });
}

/** Starts the agent and waits until it listens. */
async function startOnce(
  session: Session,
  line: string,
  url: string,
  variables: Readonly<Record<string, string>>,
  verbose: boolean,
): Promise<AgentProcess> {
  if (await session.host.listens(new URL(url)))
    throw usageError(`Something listens at ${new URL(url).host} already.`, { hint: "End it: the check starts the agent itself." });
  const show = (text: string): void => {
    if (verbose || session.globals.verbose) session.out.say(`${session.term.err.dim("│")} ${safeText(text)}`);
  };
  const agent = await startAgent(session, line, { url, variables, show });
  try {
    await agent.untilListening();
    return agent;
  } catch (error) {
    await agent.kill();
    throw error;
  }
}

function renderReport({ results, passed, failed, skipped, causes }: CheckReport, { term: { out } }: Session): string {
  const lines: string[] = [];
  let group = "";
  for (const result of results) {
    if (result.group !== group) lines.push(`${lines.length > 0 ? "\n" : ""}${out.bold(result.group)}`);
    group = result.group;
    const mark = result.passed ? out.green("✓") : result.failure ? out.red("✗") : out.yellow("○");
    lines.push(`  ${mark} ${result.title} ${out.dim(result.id)}`);
    if (result.skipped) lines.push(`      not graded: ${safeText(result.skipped)}`);
    if (result.failure) lines.push(...renderFailure(result.failure).map((line) => `      ${line}`));
  }
  const summary = [
    failed === 0 ? out.green(`${passed} passed`) : `${passed} passed`,
    ...(failed > 0 ? [out.red(`${failed} failed`)] : []),
    ...(skipped > 0 ? [out.yellow(`${skipped} not graded`)] : []),
  ];
  const told = causes.map(({ mistake, cases }) => `  ${safeText(mistake)} ${out.dim(`${cases.length} failed`)}`);
  const mistakes = told.length > 1 ? [`${out.bold("probable mistakes")}`, ...told, ""] : [];
  return `${[...lines, "", ...mistakes, summary.join(", ")].join("\n")}\n`;
}

function renderFailure({ problem, mistake, fix, curl }: NonNullable<CaseResult["failure"]>): string[] {
  return [`found    ${problem}`, `mistake  ${mistake}`, `fix      ${fix}`, `try      ${curl}`].map((line) => safeText(line));
}

/** The report in the form that CI systems read. */
function toJunit({ results }: CheckReport): string {
  const cases = results.map(({ id, group, title, ms, failure, skipped }) => ({
    group: `mailsvc.${group}`,
    name: `${title} (${id})`,
    seconds: ms / 1000,
    ...(skipped && { skipped }),
    ...(failure && { failure: { message: failure.problem, text: `${failure.mistake}\n${failure.fix}\n${failure.curl}` } }),
  }));
  return renderJunit("mailsvc agent check", cases);
}
