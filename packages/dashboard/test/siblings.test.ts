import { globSync, readFileSync } from "node:fs";
import { parseAst } from "rolldown/parseAst";
import { expect, test } from "vitest";

/** A node of a syntax tree, as far as it is looked at here. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value;

/** All nodes of a tree. */
function* walk(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const one of value) yield* walk(one);
  if (!isNode(value)) return;
  yield value;
  for (const field of Object.values(value)) yield* walk(field);
}

/** The name and the key of an element. */
function describe({ openingElement }: Node): { readonly name: string; readonly key: boolean } {
  const { name, attributes } = openingElement as { name: { name?: string }; attributes: { name?: { name?: string } }[] };
  return { name: name.name ?? "", key: attributes.some((attribute) => attribute.name?.name === "key") };
}

/** The elements that one expression between others may show in its place; those of a choice between two kinds are `chosen`. */
function listShown(value: unknown): { readonly node: Node; readonly chosen: boolean }[] {
  if (!isNode(value)) return [];
  if (value.type === "JSXElement") return [{ node: value, chosen: false }];
  if (value.type === "JSXExpressionContainer" || value.type === "ParenthesizedExpression") return listShown(value["expression"]);
  if (value.type === "LogicalExpression") return listShown(value["right"]);
  if (value.type !== "ConditionalExpression") return [];
  const [one, other] = [listShown(value["consequent"]), listShown(value["alternate"])];
  const isChoice = one.length > 0 && other.length > 0;
  return [...one, ...other].map(({ node, chosen }) => ({ node, chosen: chosen || isChoice }));
}

/**
 * Elements that are shown in place of one of another kind, beside one of their own kind. Without a key the page would take the one beside it
 * for them: its open dialog would become theirs.
 */
function listTakers(code: string): string[] {
  return [...walk(parseAst(code, { lang: "tsx" }))]
    .filter(({ type }) => type === "JSXElement" || type === "JSXFragment")
    .flatMap(({ children }) => {
      const places = (children as Node[]).map(listShown);
      return places.flatMap((shown, at) => {
        const kinds = new Set(shown.map(({ node }) => describe(node).name));
        const beside = new Set(places.flatMap((others, i) => (i === at ? [] : others.map(({ node }) => describe(node).name))));
        return shown
          .filter(({ node, chosen }) => chosen && kinds.size > 1 && beside.has(describe(node).name) && !describe(node).key)
          .filter(({ node }) => /^[A-Z]/.test(describe(node).name))
          .map(({ node }) => `${code.slice(0, node.start).split("\n").length}: <${describe(node).name}>`);
      });
    });
}

test("no element is taken for the one beside it when what is shown changes", () => {
  const files = globSync("packages/dashboard/src/**/*.tsx");
  expect(files.length).toBeGreaterThan(100);
  expect(files.flatMap((file) => listTakers(readFileSync(file, "utf8")).map((found) => `${file}:${found}`))).toEqual([]);
});

test("an element is found that would be taken for the one beside it", () => {
  const buttons = (key: string) => `<p>{on ? <Stop /> : <Ask ${key}label="Start" />}<Ask label="Delete" /></p>`;
  expect(listTakers(buttons(""))).toEqual(["1: <Ask>"]);
  expect(listTakers(buttons('key="start" '))).toEqual([]);
  expect(listTakers(`<p>{on ? <Ask label="Start" /> : null}<Ask label="Delete" /></p>`)).toEqual([]);
});
