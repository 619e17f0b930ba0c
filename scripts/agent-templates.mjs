// The templates of `mailsvc agent init` as a module, because the program is one file: packages/cli/templates/agent has a folder of each
// template, and one of the files that all of them share.
import { globSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../packages/cli/templates/agent/", import.meta.url));

/** The files of a folder by their paths, sorted. */
const filesOf = (name) =>
  Object.fromEntries(
    globSync(["**/*", "**/.*"], { cwd: folder + name })
      .filter((file) => statSync(`${folder}${name}/${file}`).isFile())
      .sort()
      .map((file) => [file.replaceAll("\\", "/"), readFileSync(`${folder}${name}/${file}`, "utf8")]),
  );

/** The templates, each with the folders whose files it has too. */
const TEMPLATES = {
  node: ["shared"],
  express: ["shared"],
  hono: ["shared"],
  next: ["shared", "approval"],
  lambda: ["shared", "approval"],
  python: [],
};

/** The files of examples/hello-agent by their paths: what `mailsvc agent init hello-agent` writes. */
export function helloAgent() {
  const files = Object.entries(Object.assign({}, ...[...TEMPLATES.node, "node"].map(filesOf)));
  return Object.fromEntries(files.map(([file, text]) => [`examples/hello-agent/${file}`, text.replaceAll("__NAME__", "hello-agent")]));
}

/** The text of packages/cli/src/agent-init/templates.generated.ts. */
export function agentTemplates() {
  const templates = Object.entries(TEMPLATES).map(([name, bases]) => [name, Object.assign({}, ...[...bases, name].map(filesOf))]);
  const lines = templates.map(([name, files]) => {
    const entries = Object.entries(files).map(([file, text]) => `    ${JSON.stringify(file)}: ${JSON.stringify(text)},\n`);
    return `  ${name}: {\n${entries.join("")}  },\n`;
  });
  return `// Generated from packages/cli/templates by \`npm run generate\`.\n\n/** The files of each template by their paths. */\nexport const AGENT_TEMPLATES = {\n${lines.join("")}} as const satisfies Record<string, Readonly<Record<string, string>>>;\n`;
}

/** The text of packages/cli/src/templates/render-program.generated.ts: a program that runs in the node of a person's project. */
export function renderProgram() {
  const program = readFileSync(new URL("../packages/cli/templates/render/render.mjs", import.meta.url), "utf8");
  return `// Generated from packages/cli/templates/render/render.mjs by \`npm run generate\`.\n\n/** The program that renders MJML and React Email. */\nexport const RENDER_PROGRAM =\n  ${JSON.stringify(program)};\n`;
}
