import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { Argument, Command, Option } from "commander";
import { withLocalPackages } from "../agent-init/local-packages.ts";
import { toSlug } from "../agent-init/slug.ts";
import { AGENT_TEMPLATES } from "../agent-init/templates.generated.ts";
import { type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { safeText } from "../text/safe-text.ts";

type TemplateName = keyof typeof AGENT_TEMPLATES;

/** `mailsvc agent init`: writes a small agent that works, with its test. Replaces no file. */
export function agentInitCommand(run: Run): Command {
  const command = new Command("init")
    .description("Write a new agent: its code, a test and a README")
    .addArgument(new Argument("[folder]", "Where to write it (default: this folder)"))
    .addOption(new Option("--template <name>", "What serves its webhook").choices(Object.keys(AGENT_TEMPLATES)).default("node"))
    .addOption(new Option("--packages <dir>", "Install mailsvc and its packages from the tarballs in this folder, as npm pack writes them"))
    .addHelpText(
      "after",
      "  mailsvc agent init hello-agent\n  mailsvc agent init hello-agent --template lambda\n  mailsvc agent init hello-agent --packages ../tarballs\n\nUntil this version is published, npm install answers 404 without --packages.",
    );
  return runAction(command, run, "local", async (session, [given = "."], flags): Promise<Exit> => {
    const { host, out, term } = session;
    const template = flags["template"] as TemplateName;
    const folder = resolve(host.cwd, given);
    const name = toSlug(basename(folder));
    if (name === "") throw usageError(`${safeText(given)} cannot name an agent: its name needs a letter or a digit.`);
    const files: [path: string, text: string][] = Object.entries(AGENT_TEMPLATES[template]);
    const present = files.map(([path]) => path).filter((path) => existsSync(join(folder, path)));
    if (present.length > 0)
      throw usageError(`These files exist already: ${present.join(", ")}.`, {
        hint: "Name an empty folder: mailsvc agent init hello-agent",
      });
    const packages = flags["packages"] === undefined ? null : resolve(host.cwd, String(flags["packages"]));
    // Before anything is written: it refuses a folder in which one is missing.
    const texts = files.map(([path, text]): [path: string, text: string] => {
      const named = text.replaceAll("__NAME__", name);
      return [path, packages !== null && path === "package.json" ? withLocalPackages(named, packages, folder, host.version) : named];
    });
    for (const [path, text] of texts) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text, { flag: "wx" });
    }
    const paths = files.map(([path]) => path);
    const steps = [...(folder === host.cwd ? [] : [`cd ${relative(host.cwd, folder)}`]), "npm install", "npm test"];
    await out.data({ folder, template, name, files: paths }, () =>
      [
        `${term.out.green("✓")} ${term.out.bold(safeText(name))} ${term.out.dim(`(${template})`)} in ${safeText(folder)}`,
        ...paths.map((path) => `  ${path}`),
        "",
        `Next: ${term.out.cyan(safeText(steps.join(" && ")))}${term.out.dim("  then see README.md")}`,
        ...(packages === null ? [term.out.dim("If npm answers 404, this version is not published yet: use --packages DIR.")] : []),
      ].join("\n"),
    );
    return EXIT.ok;
  });
}
