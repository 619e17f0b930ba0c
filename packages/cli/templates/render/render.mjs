// Renders MJML and React Email to HTML with the packages of the project that a template stands in. `mailsvc templates` runs this as a
// child process with an IPC channel, so that the project's code runs in the project's own Node.js: see src/templates/render-process.ts.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const RENDERERS = {
  mjml: { render: renderMjml, packages: [["mjml"]] },
  "react-email": {
    render: renderReactEmail,
    packages: [["@react-email/render", "@react-email/components"], ["react"], ["react-dom"], ["esbuild"]],
  },
};

/** A fault in the source of a template; `file` and `line` say where, if that is known. */
class SourceError extends Error {
  constructor(message, place = {}) {
    super(message);
    Object.assign(this, place);
  }
}

let count = 0;
process.setSourceMapsEnabled(true);
process.on("disconnect", () => process.exit());
process.on("message", async ({ id, kind, file, variables }) => {
  try {
    const { render, packages } = RENDERERS[kind];
    const missing = packages.filter((names) => !names.some((name) => findProject(name, dirname(file)))).map(([name]) => name);
    if (missing.length > 0) process.send({ id, missing });
    else process.send({ id, html: await render(file, variables) });
  } catch (error) {
    const { file: at, line, column } = error instanceof SourceError ? error : findPlace(error, dirname(file));
    process.send({ id, error: { message: String(error?.message ?? error), file: at ?? file, line, column } });
  }
});

/** Renders MJML. An unknown element or attribute is an error, as a missing file of mj-include is. */
async function renderMjml(file) {
  const loaded = createRequire(file)("mjml");
  const mjml2html = typeof loaded === "function" ? loaded : loaded.default;
  const includePath = dirname(findProject("mjml", dirname(file)));
  const result = await mjml2html(readFileSync(file, "utf8"), {
    filePath: file,
    includePath,
    ignoreIncludes: false,
    validationLevel: "soft",
  });
  const [fault] = result.errors;
  if (fault) throw new SourceError(`${fault.message} (${fault.tagName}).`, { file, line: fault.line, column: 1 });
  const lost = /<!-- mj-include (?:denied|fails to read file : (\S+) at .*?) -->/.exec(result.html);
  if (lost) throw new SourceError(`The file of an mj-include cannot be read${lost[1] ? `: ${lost[1]}` : ""}.`, { file });
  return result.html;
}

/** Renders the default export of a module, with placeholders of Handlebars as props. */
async function renderReactEmail(file, variables) {
  const folder = dirname(file);
  const renderer = RENDERERS["react-email"].packages[0].find((name) => findProject(name, folder));
  const { template, render, createElement } = await load(
    `import * as template from ${JSON.stringify(`./${file.slice(folder.length + 1)}`)};
     import { render } from ${JSON.stringify(renderer)};
     import { createElement } from "react";
     export { template, render, createElement };`,
    folder,
  );
  const Component = template.default;
  if (typeof Component !== "function") throw new SourceError("The module has no component as its default export.", { file });
  const html = await render(createElement(Component, buildProps(variables, Component.PreviewProps)));
  // React marks where two texts meet, and escapes quotes, which are part of a placeholder's syntax.
  return html.replaceAll("<!-- -->", "").replace(/\{\{[\s\S]*?\}\}/g, decode);
}

/** Bundles a module with what it imports from the project, and loads it. Packages are loaded from node_modules. */
async function load(contents, folder) {
  const esbuild = createRequire(join(folder, "template.tsx"))("esbuild");
  const cache = join(findProject("react", folder), ".cache", "mailsvc");
  const outfile = join(cache, `${process.pid}-${++count}.mjs`);
  let bundled;
  try {
    bundled = await esbuild.build({
      stdin: { contents, resolveDir: folder, sourcefile: join(folder, "mailsvc-entry.js") },
      outfile,
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
      target: "node20",
      packages: "external",
      jsx: "automatic",
      sourcemap: "inline",
      logLevel: "silent",
    });
  } catch (error) {
    const [{ text, location } = { text: error.message }] = error.errors ?? [];
    if (!location) throw error;
    throw new SourceError(text, { file: join(process.cwd(), location.file), line: location.line, column: location.column + 1 });
  }
  mkdirSync(cache, { recursive: true });
  writeFileSync(outfile, bundled.outputFiles[0].text);
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile, { force: true });
  }
}

/** The nearest node_modules that has a package; undefined when there is none. */
function findProject(name, folder) {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, "node_modules", name, "package.json"))) return join(at, "node_modules");
    if (dirname(at) === at) return undefined;
  }
}

/** A list of which one item is rendered, between the tags of a loop. */
class PlaceholderList extends Array {
  constructor(path) {
    super();
    Object.defineProperty(this, "path", { value: path });
  }

  map(render) {
    return [`{{#each ${this.path}}}`, render(this[0], 0, this), "{{/each}}"];
  }
}

/** Props that print as `{{ name }}`: the declared variables, and the texts and numbers, objects and lists of PreviewProps. */
function buildProps(variables, example = {}) {
  const props = copyShape(example, "") ?? {};
  for (const { name, type } of variables) {
    const parts = name.split(".");
    let at = props;
    let path = "";
    for (const [i, part] of parts.entries()) {
      const key = part.replace("[]", "");
      const isLast = i === parts.length - 1;
      path = path === "" ? key : `${path}.${key}`;
      if (part.endsWith("[]") || (isLast && type === "array")) {
        at[key] ??= new PlaceholderList(path);
        path = "this";
        if (isLast) at[key][0] ??= "{{ this }}";
        else {
          if (typeof at[key][0] !== "object") at[key][0] = {};
          at = at[key][0];
        }
      } else if (isLast && type !== "object") at[key] ??= `{{ ${path} }}`;
      else {
        at[key] ??= {};
        at = at[key];
      }
    }
  }
  return props;
}

function copyShape(value, path) {
  if (typeof value === "string" || typeof value === "number") return `{{ ${path} }}`;
  if (Array.isArray(value)) {
    const list = new PlaceholderList(path);
    list[0] = copyShape(value[0], "this");
    return list;
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyShape(inner, path === "" ? key : `${path}.${key}`)]));
}

function decode(placeholder) {
  const texts = { "&quot;": '"', "&#x27;": "'", "&lt;": "<", "&gt;": ">", "&amp;": "&" };
  return placeholder.replace(/&(?:quot|#x27|lt|gt|amp);/g, (entity) => texts[entity]);
}

/** Returns the place in the template's folder at which an error was thrown. */
function findPlace(error, folder) {
  for (const [, at, line, column] of String(error?.stack ?? "").matchAll(/((?:file:\/\/)?\/[^\s()]+):(\d+):(\d+)/g)) {
    const file = at.startsWith("file:") ? fileURLToPath(at) : at;
    if (file.startsWith(folder + sep)) return { file, line: Number(line), column: Number(column) };
  }
  return {};
}
