import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { contract, LINT_RULES, type LintFinding, type LintReport, type LintRuleId, VariableDeclaration } from "@mailsvc/sdk/contract";
import type { SourcesToLint } from "@mailsvc/server";
import { Command } from "commander";
import type { z } from "zod";
import { listFields } from "../contract/fields.ts";
import { addField } from "../contract/flags.ts";
import { readInput } from "../contract/input.ts";
import { setCommandMetadata } from "../contract/metadata.ts";
import { checkInput, listFaults, mapPathsToFlags } from "../contract/validate.ts";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { type JunitCase, renderJunit } from "../runtime/junit.ts";
import { buildReportOption, parseReports, writeReport } from "../runtime/reports.ts";
import { buildCall } from "../runtime/request.ts";
import { FILES, readOne } from "../templates/folder.ts";
import { findKind } from "../templates/origin.ts";
import { safeText } from "../text/safe-text.ts";
import type { CommandSpec, Session } from "../types.ts";

type Severity = LintFinding["severity"];

/** Body built from the flags: the mail, if it is no file, and options of the check. */
type Body = z.infer<typeof contract.lint.check.body>;

interface Checked extends LintReport {
  readonly target: string;
}

const REPORTS = ["junit"] as const;

/** The file that configures rules, looked for in the current folder. */
const CONFIG = "mailsvc.lint.json";

/** `mailsvc lint`: checks files on this machine, and templates and emails of the server. */
export function lintCommand(spec: CommandSpec, run: Run): Command {
  const fields = listFields(contract.lint.check);
  const command = setCommandMetadata(new Command("lint"), spec)
    .summary(contract.lint.check.summary)
    .description(
      `${contract.lint.check.summary}.\n\nFiles are checked on this machine, without a server. A template.html is checked with the template.json and\ntemplate.txt beside it. Ends with exit 1 if there are errors.`,
    )
    .argument("[targets...]", "HTML files or folders of them, calendars (.ics), - for stdin, templates (slug or tpl_…) or emails (em_…)");
  for (const field of fields) addField(command, field);
  command
    .option("--data <json>", "The whole body: JSON, @file or - for stdin; flags override it")
    .option("--config <file>", `Rules and clients as JSON (default ${CONFIG}, if it is there)`)
    .addOption(buildReportOption(REPORTS))
    .option("--list-rules", "List the rules, and stop")
    .addHelpText(
      "after",
      '\nExamples:\n  mailsvc lint mail.html --subject "Your order"\n  mailsvc lint invite.ics\n  mailsvc lint templates --report junit=lint.xml\n  mailsvc lint order-shipped --rule spam-words=off --client gmail-web --client outlook-windows\n  mailsvc lint --list-rules',
    );
  return runAction(command, run, "write", async (session, args, flags): Promise<Exit> => {
    session.spec = spec;
    if (flags["listRules"] === true) {
      await listRules(session);
      return EXIT.ok;
    }
    session.flagOf = mapPathsToFlags(fields);
    const reports = parseReports(flags["report"], REPORTS);
    const body = withConfig(await readConfig(session, flags), (await readInput(session, contract.lint.check, fields, flags)).body ?? {});
    checkInput(contract.lint.check, {}, body, session.flagOf);
    const targets = (args[0] as unknown as string[] | undefined) ?? [];
    const isNamed =
      body.html != null || body.text != null || body.calendar !== undefined || body.template !== undefined || body.email !== undefined;
    if (targets.length > 0 === isNamed)
      throw usageError("Name files, templates or emails, or give --html.", { next: "mailsvc lint --help" });
    if (session.globals.dryRun) {
      await session.printDryRun(buildCall(contract.lint.check, [], {}, body));
      return EXIT.ok;
    }
    const checked: Checked[] = isNamed ? [{ target: body.template ?? body.email ?? "html", ...(await ask(session, body)) }] : [];
    for (const target of targets.flatMap((target) => listFiles(session, target)))
      checked.push({ target, ...(await check(session, target, body)) });
    for (const { file } of reports)
      await writeReport(resolve(session.host.cwd, file), renderJunit("mailsvc lint", checked.flatMap(toCases)));
    const sum = (of: (one: Checked) => number): number => checked.reduce((all, one) => all + of(one), 0);
    const [errors, warnings] = [sum((one) => one.errors), sum((one) => one.warnings)];
    await session.out.data({ data: checked, errors, warnings }, () => formatReports(checked, session));
    return errors > 0 ? EXIT.differs : EXIT.ok;
  });
}

async function check(session: Session, target: string, body: Body): Promise<LintReport> {
  const path = resolve(session.host.cwd, target);
  if (target !== "-" && !existsSync(path)) {
    const isEmail = /^em_/.test(target);
    if (!isEmail && /[./\\]/.test(target))
      throw usageError(`There is no file ${safeText(target)}.`, { code: "not_found", exit: EXIT.notFound });
    return ask(session, { ...body, ...(isEmail ? { email: target } : { template: target }) });
  }
  const { lintSources } = await import("@mailsvc/server");
  const report = await lintSources(await readSources(session, target, path, body), { clients: body.clients, rules: body.rules });
  return findKind(basename(path)) === null ? report : { ...report, rendered: true };
}

/** The files of a target: of a folder, each template in it and below it, or else its HTML files. Throws CliError for a folder with none. */
function listFiles({ host }: Session, target: string): string[] {
  const path = resolve(host.cwd, target);
  if (target === "-" || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [target];
  const inside = listInside(path, target)
    .filter((name) => !name.split(/[\\/]/).includes("node_modules"))
    .sort();
  const isTemplate = (name: string): boolean => existsSync(join(path, dirname(name), FILES.about));
  const templates = inside.filter((name) => (basename(name) === FILES.html || findKind(basename(name)) !== null) && isTemplate(name));
  const found = templates.length > 0 ? templates : inside.filter((name) => /^\.html?$/i.test(extname(name)));
  if (found.length > 0) return found.map((name) => join(target, name));
  throw usageError(`${safeText(target)} is a folder without templates and HTML files.`, { hint: "Name files, or a folder of templates." });
}

/** Everything in a folder and below it. Throws CliError where that cannot be read. */
function listInside(path: string, target: string): string[] {
  try {
    return readdirSync(path, { recursive: true, encoding: "utf8" });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usageError(`${safeText(target)} cannot be read whole (${code}).`, { hint: "Name the folder of the templates, or their files." });
  }
}

/** A file as lint reads it: a template with the files next to it, or HTML. Throws CliError. */
async function readSources(session: Session, target: string, path: string, body: Body): Promise<SourcesToLint> {
  if (
    target !== "-" &&
    (basename(path) === FILES.html || findKind(basename(path)) !== null) &&
    existsSync(resolve(dirname(path), FILES.about))
  ) {
    const { html, text, subject, layout, type, variables } = await readOne(
      dirname(dirname(path)),
      basename(dirname(path)),
      session.host.env,
    );
    const declared = VariableDeclaration.array().parse(variables);
    return { html, text, subject: body.subject ?? subject, layout, type: body.type ?? type, declared };
  }
  if (target !== "-" && /^\.ics$/i.test(extname(path))) {
    const calendar = await session.input.text(path, "<target>");
    return { html: null, text: null, subject: null, calendar, type: "transactional", layout: null, declared: null };
  }
  if (target !== "-" && !/^\.html?$/i.test(extname(path)))
    throw usageError(`${safeText(target)} is no HTML file.`, { hint: "Its name must end with .html, or .ics for a calendar." });
  const html = await session.input.text(target === "-" ? "-" : path, "<target>");
  return { html, text: null, subject: body.subject ?? null, type: body.type ?? "transactional", layout: null, declared: null };
}

async function ask(session: Session, body: Body): Promise<LintReport> {
  return (await session.send(buildCall(contract.lint.check, [], {}, body))).data as LintReport;
}

/** The rules and clients of the configuration. Throws CliError for anything else in it. */
async function readConfig(session: Session, flags: Flags): Promise<Body> {
  const named = flags["config"];
  const file = resolve(session.host.cwd, String(named ?? CONFIG));
  const config = named !== undefined || existsSync(file) ? await session.input.json(`@${file}`, "--config") : {};
  const [fault] = listFaults(contract.lint.check.body.pick({ rules: true, clients: true }), config);
  if (fault) throw usageError(`${safeText(basename(file))}: ${safeText(fault.path)}: ${safeText(fault.message)}`);
  return config as Body;
}

function withConfig(config: Body, given: Record<string, unknown>): Body {
  const { rules, ...rest } = given as Body;
  const all = { ...config.rules, ...rules };
  return { ...config, ...rest, ...(Object.keys(all).length > 0 && { rules: all }) };
}

async function listRules({ out, term }: Session): Promise<void> {
  const rules = (Object.keys(LINT_RULES) as LintRuleId[]).map((id) => ({ id, ...LINT_RULES[id] }));
  await out.data({ data: rules.map(({ id, severity, about, fix }) => ({ id, severity, about, fix })) }, () =>
    rules
      .map(({ id, severity, about, fix }) => `${term.out.bold(id)}  ${paint(severity, term.out)}\n  ${about}\n  ${term.out.dim(fix)}`)
      .join("\n"),
  );
}

function formatReports(checked: readonly Checked[], { term: { out } }: Session): string {
  const blocks = checked.map(({ target, findings, omitted, errors, warnings, rendered }) => {
    const isCalendar = /\.ics$/i.test(target);
    const lines = findings.flatMap(({ severity, part, line, column, message, rule, fix }) => {
      const file = (part === "html" && !rendered) || (part === "calendar" && isCalendar) ? safeText(target) : part;
      const place = line === null ? file : `${file}:${line}:${column}`;
      return [`${place}  ${paint(severity, out)}  ${safeText(message)}  ${out.dim(rule)}`, out.dim(`  ${fix}`)];
    });
    const more = omitted === 0 ? [] : [out.dim(`and ${omitted} more`)];
    const where = rendered && findings.length > 0 ? out.dim(" (lines of the rendered HTML)") : "";
    const count = `${plural(errors, "error")}, ${plural(warnings, "warning")}`;
    return [`${out.bold(safeText(target))}${where}`, ...lines, ...more, errors > 0 ? out.red(count) : out.green(count)].join("\n");
  });
  return blocks.join("\n\n");
}

function paint(severity: Severity, out: Session["term"]["out"]): string {
  return severity === "error" ? out.red("error") : out.yellow("warning");
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Each finding is a case, of which errors fail; a mail without findings is one that passed. */
function toCases({ target, findings }: Checked): JunitCase[] {
  if (findings.length === 0) return [{ group: `mailsvc.lint.${target}`, name: "no findings" }];
  return findings.map(({ rule, severity, part, line, column, message, fix }) => {
    const place = line === null ? part : `${part}:${line}:${column}`;
    return {
      group: `mailsvc.lint.${target}`,
      name: `${rule} (${place})`,
      ...(severity === "error" ? { failure: { message, text: fix } } : { output: `${message}\n${fix}` }),
    };
  });
}
