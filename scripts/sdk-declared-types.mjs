// The types that the contract's sources declare by name: what a client's user imports, read from the text of the sources. Types that
// are derived from a schema or a constant are resolved by the value, so that nothing of what is generated needs zod.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = fileURLToPath(new URL("../packages/sdk/src/contract/", import.meta.url));

/**
 * @typedef {{ name: string, doc: string, exported: boolean, head: string, text: string, module: Record<string, any>, file: string }} Declared
 * `head` is the declaration up to its name and parameters, `text` what follows: `= …;` or `{ … }`.
 */

/** @returns {Promise<Declared[]>} all declarations of types in the contract, those that are not exported too */
export async function readDeclaredTypes() {
  const files = globSync("**/*.ts", { cwd: folder }).filter((file) => !file.endsWith(".test.ts") && !file.endsWith("index.ts"));
  const all = [];
  for (const file of files.sort()) {
    const module = await import(pathToFileURL(join(folder, file)).href);
    for (const declared of declarationsIn(readFileSync(join(folder, file), "utf8"))) all.push({ ...declared, module, file });
  }
  return all;
}

/** The names of types that the contract's entry exports of a file; null for all. */
export function exportedNames() {
  const files = new Map();
  for (const [index, base] of [
    ["index.ts", ""],
    ["marketplace/index.ts", "marketplace/"],
  ]) {
    const text = readFileSync(join(folder, index), "utf8");
    for (const [, file] of text.matchAll(/^export (?:type )?\* from "\.\/([^"]+)";$/gm)) files.set(base + file, null);
    for (const [, names, file] of text.matchAll(/^export \{([^}]+)\} from "\.\/([^"]+)";$/gm))
      files.set(base + file, new Set(names.split(",").map((name) => name.replace(/^\s*type /, "").trim())));
  }
  return files;
}

const START = /^(export )?((?:interface|type) (\w+).*)$/;

function* declarationsIn(source) {
  const lines = source.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const [, exported, , name] = START.exec(lines[at]) ?? [];
    if (name === undefined) continue;
    const doc = docBefore(lines, at);
    const from = at;
    let depth = 0;
    for (; at < lines.length; at += 1) {
      for (const char of lines[at].replace(/"[^"]*"|`[^`]*`/g, "").replace(/\/\*.*?\*\/|\/\/.*$/g, "")) {
        if ("{[(".includes(char)) depth += 1;
        if ("}])".includes(char)) depth -= 1;
      }
      if (depth === 0 && /[;}]$/.test(lines[at])) break;
    }
    const whole = lines
      .slice(from, at + 1)
      .join("\n")
      .replace(/^export /, "");
    const head = /^(?:interface|type) \w+(?:<[^=]*?>(?= [={]))?(?: extends [^{]+)?/.exec(whole)[0].trimEnd();
    yield { name, doc, exported: exported !== undefined, head, text: whole.slice(head.length).trim() };
  }
}

function docBefore(lines, at) {
  if (!lines[at - 1]?.trimEnd().endsWith("*/")) return "";
  let from = at - 1;
  while (!lines[from].startsWith("/**")) from -= 1;
  return `${lines.slice(from, at).join("\n")}\n`;
}
