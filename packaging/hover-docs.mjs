// Puts the contract's texts into its declarations as JSDoc, so that editors show them on hover: each endpoint's summary and
// description above its method, each field's description above the field. The types alone do not carry these texts.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Documents all declarations of a built contract.
 *
 * @param {string} dist folder of the built package, with `contract/index.js` next to the declarations
 * @returns {Promise<number>} how many comments were written
 */
export const documentDeclarations = async (dist) => {
  const exports = await import(pathToFileURL(join(dist, "contract/index.js")).href);
  const nouns = { ...exports, ...exports.contract, ...exports.agentContract };
  let written = 0;
  for (const file of globSync("contract/**/*.d.ts", { cwd: dist })) {
    const path = join(dist, file);
    const documented = documentFile(readFileSync(path, "utf8"), nouns);
    written += documented.written;
    writeFileSync(path, documented.text);
  }
  return written;
};

const PROPERTY = /^( *)(?:readonly )?(?:(\w+)|"([^"]+)")\??: /;
const EXPORT = /^export declare const (\w+): /;

/** Walks the lines of a declaration file. Its indentation tells which property is inside which. */
const documentFile = (text, nouns) => {
  const lines = [];
  /** Values of the contract from the exported constant inwards: { indent, value }. */
  let stack = [];
  let written = 0;
  for (const line of text.split("\n")) {
    const exported = EXPORT.exec(line)?.[1];
    const [, spaces, word, quoted] = PROPERTY.exec(line) ?? [];
    if (exported !== undefined) {
      stack = [{ indent: -1, value: nouns[exported] }];
    } else if (spaces !== undefined) {
      while (stack.length > 0 && stack.at(-1).indent >= spaces.length) stack.pop();
      const value = lookUp(stack.at(-1)?.value, word ?? quoted);
      const comment = describe(value);
      const documented = lines.at(-1)?.trimEnd().endsWith("*/");
      if (comment !== undefined && !documented) {
        lines.push(...comment.split("\n").map((part, i) => (i === 0 ? spaces : `${spaces} `) + part));
        written += 1;
      }
      stack.push({ indent: spaces.length, value });
    }
    lines.push(line);
  }
  return { text: lines.join("\n"), written };
};

const isSchema = (value) => typeof value === "object" && value !== null && "_zod" in value;

/** A property of a plain object, or the field of that name anywhere within a schema. */
const lookUp = (value, name) => {
  if (isSchema(value)) return findField(value, name, 0);
  return typeof value === "object" && value !== null && Object.hasOwn(value, name) ? value[name] : undefined;
};

const findField = (schema, name, depth) => {
  if (!isSchema(schema) || depth > 8) return undefined;
  const { shape, innerType, element, options, in: input, out } = schema._zod.def;
  if (shape !== undefined && Object.hasOwn(shape, name)) return shape[name];
  for (const inner of [innerType, element, ...(options ?? []), input, out]) {
    const found = findField(inner, name, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** The comment of an endpoint or a field; undefined for anything else. */
const describe = (value) => {
  if (isSchema(value)) {
    const description = value.meta()?.description ?? value._zod.def.innerType?.meta?.()?.description;
    return description === undefined ? undefined : `/** ${commentSafe(description)} */`;
  }
  if (typeof value?.summary !== "string" || typeof value.path !== "string") return undefined;
  const more = value.description === undefined ? [] : ["*", `* ${commentSafe(value.description)}`];
  return ["/**", `* ${commentSafe(value.summary)}.`, ...more, "*", `* \`${value.method} ${value.path}\``, "*/"].join("\n");
};

const commentSafe = (text) => text.replaceAll("*/", "*\\/").replaceAll("\n", " ");
