// Rendering of Helm charts, as far as ours goes: values, `if`, `range` over a map, `quote`, `toYaml`, `nindent` and `required`. It throws
// on anything else, so that no template can use what is not checked.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";

/** Renders all templates of a chart. Returns their texts by file name. Throws when a template asks for what is not set. */
export function renderChart(folder, given) {
  const chart = parse(readFileSync(join(folder, "Chart.yaml"), "utf8"));
  const defaults = parse(readFileSync(join(folder, "values.yaml"), "utf8"));
  for (const name of Object.keys(given)) if (!(name in defaults)) throw new Error(`values.yaml has no ${name}.`);
  const scope = { Values: { ...defaults, ...given }, Chart: { AppVersion: chart.appVersion }, Release: { Name: "test" } };
  return Object.fromEntries(
    globSync("templates/*.yaml", { cwd: folder })
      .sort()
      .map((file) => [file, render(readFileSync(join(folder, file), "utf8"), scope)]),
  );
}

function render(text, scope) {
  const parts = tokenize(text);
  const [nodes, rest] = nest(parts);
  if (rest.length > 0) throw new Error("There is an {{ end }} too many.");
  return print(nodes, scope);
}

/** Texts and actions in turn; `{{-` and `-}}` take the space beside them. */
function tokenize(text) {
  const tokens = [];
  let last = 0;
  let trim = false;
  const add = (part) => tokens.push({ text: trim ? part.trimStart() : part });
  for (const match of text.matchAll(/\{\{(-)?\s*(.+?)\s*(-)?\}\}/g)) {
    const before = text.slice(last, match.index);
    add(match[1] ? before.trimEnd() : before);
    tokens.push({ action: match[2] });
    trim = match[3] !== undefined;
    last = match.index + match[0].length;
  }
  add(text.slice(last));
  return tokens;
}

function nest(tokens) {
  const nodes = [];
  let rest = tokens;
  while (rest.length > 0) {
    const [token, ...after] = rest;
    if (token.action === "end") return [nodes, rest];
    rest = after;
    const block = /^(if|range) (.+)$/.exec(token.action ?? "");
    if (block === null) {
      nodes.push(token);
      continue;
    }
    const [body, remaining] = nest(rest);
    if (remaining[0]?.action !== "end") throw new Error(`{{ ${token.action} }} has no {{ end }}.`);
    nodes.push({ block: block[1], of: block[2], body });
    rest = remaining.slice(1);
  }
  return [nodes, rest];
}

function print(nodes, scope) {
  return nodes
    .map((node) => {
      if (node.text !== undefined) return node.text;
      if (node.action !== undefined) return String(evaluate(node.action, scope));
      if (node.block === "if") return isTrue(evaluate(node.of, scope)) ? print(node.body, scope) : "";
      const [, key, value, of] = /^(\$\w+), (\$\w+) := (.+)$/.exec(node.of) ?? [];
      if (of === undefined) throw new Error(`{{ range ${node.of} }} is not understood.`);
      // Helm goes through maps by name.
      return Object.entries(evaluate(of, scope))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, item]) => print(node.body, { ...scope, [key]: name, [value]: item }))
        .join("");
    })
    .join("");
}

const isTrue = (value) =>
  typeof value === "object" && value !== null
    ? Object.keys(value).length > 0
    : value !== "" && value !== 0 && value !== false && value != null;

function evaluate(action, scope) {
  const [first, ...filters] = action.split(/ \| /);
  return filters.reduce((value, filter) => apply(filter.trim(), value), evaluateTerm(first.trim(), scope));
}

function evaluateTerm(term, scope) {
  const required = /^required "(.+?)" (\S+)$/.exec(term);
  if (required !== null) {
    const value = evaluateTerm(required[2], scope);
    if (!isTrue(value)) throw new Error(required[1]);
    return value;
  }
  const asYaml = /^toYaml (\S+)$/.exec(term);
  if (asYaml !== null) return stringify(evaluateTerm(asYaml[1], scope)).trimEnd();
  if (/^\$\w+$/.test(term) && term in scope) return scope[term];
  if (!/^(?:\.\w+)+$/.test(term)) throw new Error(`{{ ${term} }} is not understood.`);
  return term
    .slice(1)
    .split(".")
    .reduce((value, name) => {
      if (typeof value !== "object" || value === null || !(name in value)) throw new Error(`${term} is not set.`);
      return value[name];
    }, scope);
}

function apply(filter, value) {
  if (filter === "quote") return JSON.stringify(String(value));
  const indent = /^nindent (\d+)$/.exec(filter);
  if (indent === null) throw new Error(`The filter ${filter} is not understood.`);
  return `\n${String(value).replace(/^/gm, " ".repeat(Number(indent[1])))}`;
}
