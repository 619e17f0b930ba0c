// The documentation for programs that read it: each page as Markdown beside its HTML, `llms.txt`, which lists them, and `llms-full.txt`,
// which holds the guide in one file.
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pageOf, root, targetOf } from "./pages.mjs";
import { GUIDE } from "./reading-order.mjs";

const SUMMARY =
  "A self-hosted email service in one process: API, SMTP, templates, campaigns, automations, webhooks, and a marketplace of agents.";

// Parts of the guide that say how the project works, which users do not need.
const LEFT_OUT = new Set(["About the project"]);

/** Writes the files into the folder of a built site. Returns their paths. */
export function writeForPrograms(outDir) {
  const files = globSync("{*,docs/*,docs/{start,recipes,moving,reference,decisions}/*,examples/*,examples/*/*,packages/sdk/*}.md", {
    cwd: root,
  });
  const pages = files.map((file) => [file.replaceAll("\\", "/"), pageOf(file.replaceAll("\\", "/"))]).filter(([, page]) => page !== null);
  const written = pages.map(([file, page]) => [page, withLinksOfSite(file)]);
  written.push(["llms.txt", listPages()], ["llms-full.txt", joinGuide()]);
  for (const [path, text] of written) {
    mkdirSync(dirname(join(outDir, path)), { recursive: true });
    writeFileSync(join(outDir, path), text);
  }
  return written.map(([path]) => path);
}

const titleOf = (text) => /^# (.+)$/m.exec(text)[1];

/** The first sentence below the title of a page. */
const firstSentence = (text) => {
  const paragraph = text
    .slice(text.indexOf("\n", text.search(/^# /m)))
    .trim()
    .split("\n\n")[0];
  const plain = paragraph.replaceAll("\n", " ").replace(/\[([^\]]+)\]\([^)]+\)/g, "$1");
  return /^[A-Z`]/.test(plain) ? (/^.+?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, ".") ?? "") : "";
};

function listPages() {
  const sections = Object.entries(GUIDE).map(([title, files]) => {
    const lines = files.map((file) => {
      const text = readFileSync(join(root, file), "utf8");
      const about = firstSentence(text);
      return `- [${titleOf(text)}](/${pageOf(file)})${about === "" ? "" : `: ${about}`}`;
    });
    return `## ${LEFT_OUT.has(title) ? "Optional" : title}\n\n${lines.join("\n")}`;
  });
  const facts = [
    "Each page is Markdown at its address with .md. The whole guide in one file is [llms-full.txt](/llms-full.txt).",
    "Questions and tasks, each with the section that answers it, are in [Questions](/questions.md). In a terminal, `mailsvc docs QUESTION` answers",
    "offline, and `mailsvc mcp` serves tools. All operations of the API are in the [reference](/reference.md) and in [openapi.json](/openapi.json).",
  ];
  return `# mailsvc\n\n> ${SUMMARY}\n\n${facts.join("\n")}\n\n${sections.join("\n\n")}\n`;
}

function joinGuide() {
  const files = Object.entries(GUIDE).flatMap(([title, files]) => (LEFT_OUT.has(title) ? [] : files));
  return files.map((file) => `<!-- /${pageOf(file)} -->\n\n${withLinksOfSite(file).trim()}\n`).join("\n");
}

/** A page with its links to other pages as those of the site. A link to a file that is no page becomes its text. */
function withLinksOfSite(file) {
  let fenced = false;
  return readFileSync(join(root, file), "utf8")
    .split("\n")
    .map((line) => {
      if (line.startsWith("```")) fenced = !fenced;
      if (fenced) return line;
      return line.replace(/(?<!!)\[([^\]]*)\]\(([^)\s]+)\)/g, (_, text, href) => {
        const target = targetOf(file, href);
        return target === null ? text : `[${text}](${target})`;
      });
    })
    .join("\n");
}
