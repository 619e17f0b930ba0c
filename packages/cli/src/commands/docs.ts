import { Argument, Command } from "commander";
import { type Run, runAction } from "../runtime/action.ts";
import { CliError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import type { Session } from "../types.ts";

const HELP = `
It prints Markdown, also in a pipe. --json gives the same as data.

Examples:
  mailsvc docs                              the list of pages
  mailsvc docs start/server                 one page
  mailsvc docs send with an attachment      the section that answers best, and others`;

// Sections named after the one that is printed.
const OTHERS = 4;

/** `mailsvc docs [WORDS]`: the documentation of this version, offline. */
export function docsCommand(run: Run): Command {
  const command = new Command("docs")
    .description("Read the documentation: a page, or what answers a question")
    .addArgument(new Argument("[words...]", "Page, such as testing, or words to search for"))
    .addHelpText("after", HELP);
  return runAction(command, run, "local", async (session, args) => {
    const { openDocs } = await import("@mailsvc/server");
    const docs = await openDocs();
    const words = args.flat().filter((word): word is string => typeof word === "string");
    const [name = ""] = words;
    const page = words.length === 1 ? docs.pages.get(name.replace(/^\/|\.md$/g, "")) : undefined;
    if (words.length === 0) return listPages(session, docs.pages);
    if (page !== undefined) return show(session, { page: name, text: page }, page);
    return search(session, docs.search(words.join(" "), OTHERS + 1), words.join(" "));
  });
}

function listPages(session: Session, pages: ReadonlyMap<string, string>): Promise<Exit> {
  const all = [...pages].map(([page, text]) => ({ page, title: /^# (.+)$/m.exec(text)?.[1] ?? "" }));
  const width = Math.max(...all.map(({ page }) => page.length));
  return show(session, { pages: all }, all.map(({ page, title }) => `${page.padEnd(width)}  ${title}`).join("\n"));
}

interface Found {
  readonly uri: string;
  readonly page: string;
  readonly section: string;
  readonly text: string;
}

/** Throws CliError when nothing was found. */
function search(session: Session, found: readonly Found[], query: string): Promise<Exit> {
  const [best, ...others] = found.map(({ uri, page, section, text }) => ({
    page: uri.replace("mailsvc://docs/", ""),
    title: page,
    section,
    text,
  }));
  if (best === undefined)
    throw new CliError({
      code: "not_found",
      message: `No page has ${JSON.stringify(query.slice(0, 100))}.`,
      exit: EXIT.notFound,
      hint: "Try other words, or list the pages.",
      next: "mailsvc docs",
    });
  const title = best.section === best.title ? best.title : `${best.title}: ${best.section}`;
  const more = others.map(({ page, section, title: of }) => `- ${section === of ? of : `${of}: ${section}`} (mailsvc docs ${page})`);
  const text = [
    `# ${title}`,
    best.text,
    `The whole page: mailsvc docs ${best.page}`,
    more.length > 0 ? `See also:\n\n${more.join("\n")}` : "",
  ];
  return show(session, { results: [best, ...others] }, text.filter(Boolean).join("\n\n"));
}

async function show({ out, globals }: Session, value: object, text: string): Promise<Exit> {
  if (globals.json || globals.jq !== undefined) await out.data(value, () => text);
  else await out.text(`${text.trimEnd()}\n`);
  return EXIT.ok;
}
