import type { CaseResult, CheckReport } from "@mailsvc/agent-kit/conformance";
import { Argument, Command, Option } from "commander";
import { type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { safeText } from "../runtime/safe-text.ts";
import type { Session } from "../types.ts";

/** `mailsvc agent check`: grades the webhook of an agent in any language, without a server. */
export function agentCheckCommand(run: Run): Command {
  const command = new Command("check")
    .description("Grade an agent's webhook: signatures, unknown events, duplicates, odd bodies, hostile requests")
    .addArgument(new Argument("<url>", "Where the webhook listens, for example http://localhost:3000/webhook"))
    .addOption(new Option("--secret <secret>", "The secret it verifies with (default AGENT_WEBHOOK_SECRET)"))
    .addOption(new Option("--only <text>", "Only cases whose id contains this"))
    .addOption(
      new Option("--output <format>", "pretty, json or junit (default pretty on a terminal, json in a pipe)").choices([
        "pretty",
        "json",
        "junit",
      ]),
    )
    .addHelpText(
      "after",
      "  mailsvc agent check http://localhost:3000/webhook --secret $AGENT_WEBHOOK_SECRET\n\nIt needs no activation: its events name act_sample. Exit code 11 when a case failed.",
    );
  return runAction(command, run, "local", async (session, [url], flags): Promise<Exit> => {
    const { checkReceiver } = await import("@mailsvc/agent-kit/conformance");
    const secret = flags["secret"] ?? session.host.env["AGENT_WEBHOOK_SECRET"];
    if (typeof secret !== "string" || secret === "") throw usageError("--secret is needed.", { hint: "Or set AGENT_WEBHOOK_SECRET." });
    if (!/^https?:\/\/./.test(String(url)) || !URL.canParse(String(url)))
      throw usageError(`${safeText(String(url))} is no http:// or https:// address.`);
    const format = flags["output"] ?? (session.out.json ? "json" : "pretty");
    const only = flags["only"] === undefined ? undefined : String(flags["only"]);
    const progress = session.progress("Checking");
    const report = await checkReceiver({ url: String(url), secret, only }).finally(() => progress.stop());
    if (report.results.length === 0) throw usageError(`No case has ${safeText(only ?? "")} in its id.`);
    if (format === "json") await session.out.text(`${JSON.stringify(report, null, 2)}\n`);
    else if (format === "junit") await session.out.text(renderJunit(report));
    else await session.out.text(renderReport(report, session));
    return report.failed === 0 ? EXIT.ok : EXIT.partial;
  });
}

function renderReport({ results, passed, failed }: CheckReport, { term: { out } }: Session): string {
  const lines: string[] = [];
  let group = "";
  for (const result of results) {
    if (result.group !== group) lines.push(`${lines.length > 0 ? "\n" : ""}${out.bold(result.group)}`);
    group = result.group;
    lines.push(`  ${result.passed ? out.green("✓") : out.red("✗")} ${result.title} ${out.dim(result.id)}`);
    if (result.failure) lines.push(...renderFailure(result.failure).map((line) => `      ${line}`));
  }
  const summary = failed === 0 ? out.green(`${passed} passed`) : `${passed} passed, ${out.red(`${failed} failed`)}`;
  return `${lines.join("\n")}\n\n${summary}\n`;
}

function renderFailure({ problem, mistake, fix, curl }: NonNullable<CaseResult["failure"]>): string[] {
  return [`found    ${problem}`, `mistake  ${mistake}`, `fix      ${fix}`, `try      ${curl}`].map((line) => safeText(line));
}

/** The report in the form that CI systems read. */
function renderJunit({ results, failed }: CheckReport): string {
  const cases = results.map(({ id, group, title, ms, failure }) => {
    const head = `  <testcase classname="${escapeXml(`mailsvc.${group}`)}" name="${escapeXml(`${title} (${id})`)}" time="${(ms / 1000).toFixed(3)}"`;
    if (!failure) return `${head}/>`;
    const text = `${failure.mistake}\n${failure.fix}\n${failure.curl}`;
    return `${head}>\n    <failure message="${escapeXml(failure.problem)}">${escapeXml(text)}</failure>\n  </testcase>`;
  });
  const head = `<testsuite name="mailsvc agent check" tests="${results.length}" failures="${failed}">`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${head}\n${cases.join("\n")}\n</testsuite>\n`;
}

function escapeXml(text: string): string {
  const names: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  // XML 1.0 has no other control characters.
  return text.replace(/[&<>"]/g, (char) => names[char] ?? char).replace(/[^\t\n\r\x20-\uffff]/g, "\ufffd");
}
