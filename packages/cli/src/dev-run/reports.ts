import type { CoverageReport, RunSummary } from "@mailsvc/server";
import { renderJunit } from "../runtime/junit.ts";
import type { RunReport } from "./options.ts";

/** A run that has ended, as reports tell of it. */
export interface ReportedRun {
  readonly command: readonly string[];
  readonly exitCode: number;
  /** Reason the command was not started; null if it was. */
  readonly fault: string | null;
  readonly ms: number;
  /** The file of the recording; null without one. */
  readonly recording: string | null;
  readonly summary: RunSummary;
}

const TITLES: Readonly<Record<keyof CoverageReport, string>> = {
  errorCodes: "error codes",
  emailStates: "email states",
  emailTransitions: "email transitions",
  eventTypes: "event types",
  webhookEvents: "webhook events",
  agentEvents: "agent events",
};

/** A report of a run in one of its forms. */
export function renderReport(kind: RunReport, run: ReportedRun): string {
  if (kind === "json") return `${JSON.stringify(run, null, 2)}\n`;
  return kind === "junit" ? renderAsJunit(run) : renderMarkdown(run);
}

/** Formats the reached and the missing items as text. */
export function renderCoverage(coverage: CoverageReport): string {
  const lines = listCoverage(coverage).flatMap(({ title, reached, never }) => [
    `${title.padEnd(18)} ${reached.length} of ${reached.length + never.length}`,
    ...(reached.length > 0 ? wrap("reached", reached) : []),
    ...(never.length > 0 ? wrap("never", never) : []),
  ]);
  return `${["Coverage of the contract", ...lines].join("\n")}\n`;
}

/** The run as Markdown, for the summary of a CI job. */
export function renderMarkdown({ command, exitCode, fault, ms, recording, summary }: ReportedRun): string {
  const { requests, byStatus, smtp, mails, emails, deliveries, faults, problems, coverage } = summary;
  const rows: [string, string][] = [
    ["exit code", `${exitCode} after ${(ms / 1000).toFixed(1)} s`],
    ...(fault === null ? [] : [["not started", fault] satisfies [string, string]]),
    ["requests", requests === 0 ? "none" : `${requests}: ${describeCounts(byStatus)}`],
    ...(Object.keys(smtp).length === 0 ? [] : [["replies over SMTP", describeCounts(smtp)] satisfies [string, string]]),
    ["captured mail", String(mails)],
    ["emails", describeCounts(emails) || "none"],
    ["webhook deliveries", describeCounts(deliveries) || "none"],
    ["faults that were hit", String(faults)],
    ...listCoverage(coverage).map(({ title, reached, never }): [string, string] => [
      `coverage: ${title}`,
      `${reached.length} of ${reached.length + never.length}`,
    ]),
    ...(recording === null ? [] : [["recording", `mailsvc dev --open ${recording}`] satisfies [string, string]]),
  ];
  const table = ["| | |", "| --- | --- |", ...rows.map(([name, value]) => `| ${name} | ${escapeMarkdown(value)} |`)];
  const told = problems
    .slice(0, 20)
    .map(({ title, status, summary: why }) => `- **${escapeMarkdown(status)}** ${escapeMarkdown(title)}: ${escapeMarkdown(why)}`);
  const list = told.length === 0 ? [] : ["", "#### Did not arrive", "", ...told];
  return `${[`### ${exitCode === 0 ? "✅" : "❌"} ${escapeMarkdown(describeCommand(command))}`, "", ...table, ...list].join("\n")}\n`;
}

/** The commands by which GitHub Actions marks a step: the command that failed, and the first of what did not arrive. */
export function renderAnnotations({ command, exitCode, fault, recording, summary }: ReportedRun): string[] {
  if (exitCode === 0) return [];
  const kept = recording === null ? "" : ` The run is recorded in ${recording}.`;
  return [
    annotate("error", "mailsvc dev", `${fault ?? `${describeCommand(command)} ended with exit code ${exitCode}.`}${kept}`),
    ...summary.problems.slice(0, 5).map(({ title, status, summary: why }) => annotate("notice", `${status}: ${title}`, why)),
  ];
}

function renderAsJunit(run: ReportedRun): string {
  const { command, exitCode, fault, ms, recording, summary } = run;
  const told = summary.problems.map(({ title, status, summary: why }) => `${status}: ${title}\n  ${why}`);
  const text = [...(recording === null ? [] : [`Recording: ${recording}`]), ...told].join("\n");
  const failure = { message: fault ?? `Exit code ${exitCode}`, text };
  const only = { group: "mailsvc.dev", name: describeCommand(command), seconds: ms / 1000, ...(exitCode !== 0 && { failure }) };
  const figures = listCoverage(summary.coverage).map(({ title, reached, never }) => [
    `coverage: ${title}`,
    `${reached.length} of ${reached.length + never.length}`,
  ]);
  return renderJunit("mailsvc dev", [only], Object.fromEntries(figures));
}

function listCoverage(coverage: CoverageReport) {
  return Object.entries(TITLES).map(([name, title]) => ({ title, ...coverage[name as keyof CoverageReport] }));
}

/** A command for people; of a script that a shell is given, its lines. */
function describeCommand(command: readonly string[]): string {
  const isShell = /(?:^|[\\/])(?:ba|da|k|z)?sh(?:\.exe)?$/.test(command[0] ?? "") && command.at(-2) === "-c";
  const lines = (command.at(-1) ?? "").split("\n").flatMap((line) => line.trim() || []);
  return command.length === 0 ? "mailsvc dev" : isShell ? lines.join("; ") : command.join(" ");
}

function describeCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, n]) => `${n} × ${name}`)
    .join(", ");
}

const WIDTH = 100;

/** A list of names, in lines of at most 100 columns. */
function wrap(label: string, names: readonly string[]): string[] {
  const lines: string[] = [];
  let line = `  ${label.padEnd(8)}`;
  for (const [i, name] of names.entries()) {
    const text = i < names.length - 1 ? `${name}, ` : name;
    if (line.length + text.trimEnd().length > WIDTH) {
      lines.push(line.trimEnd());
      line = " ".repeat(10);
    }
    line += text;
  }
  return [...lines, line];
}

// Texts of mail must not become HTML or links on the page of a job.
function escapeMarkdown(text: string): string {
  return text
    .replaceAll(/[\r\n]+/g, " ")
    .replaceAll(/[\\`*_[\]<>|#&]/g, (char) => (char === "<" ? "&lt;" : char === "&" ? "&amp;" : `\\${char}`));
}

function annotate(level: "error" | "notice", title: string, message: string): string {
  const data = message.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const property = title
    .replaceAll("%", "%25")
    .replaceAll(/[\r\n]/g, " ")
    .replaceAll(":", "%3A")
    .replaceAll(",", "%2C");
  return `::${level} title=${property}::${data}`;
}
