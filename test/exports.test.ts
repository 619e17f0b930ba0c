import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { entries, sources } from "./support/sources.ts";

// Nothing is exported that no other file imports: what is only used in its own file is a detail of it, and what is not used at all is dead.

type Sources = ReadonlyMap<string, string>;

/** Exports, as `path: name`, that are used in a way that this walk does not see. */
const USED_OTHERWISE: readonly (readonly [exported: RegExp, how: string])[] = [
  [/\.generated\.ts:/, "they are written for all of the contract"],
  [/^examples\//, "a reader takes what he needs"],
  [/^packages\/sdk\/src\/platform\/web\.ts:/, "the build takes it instead of node.ts"],
  [/\/schema\.(?:sqlite|pg)\.ts:/, "drizzle-kit reads the tables"],
  [
    /^(?:packaging|scripts)\/(?:binary\/build|bundle-plugins|cli-overview|mail-client-support)\.mjs:/,
    "the exports are text of a module that it writes",
  ],
  [/\/lib\/ids\.ts: IdPrefixes$/, "modules declare their own prefixes in it"],
  [/\/emails\/tables\.ts: Addressees$/, "the declarations of the schema name it"],
  [/^test\/sdk-types\.test\.ts:/, "they stand in a program that it compiles"],
];

const DECLARED = /^export (?:declare |abstract |async )*(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm;
const LISTED = /^export (?:type )?\{([^}]*)\}/gm;
const NAMED = /^(?:import|export) (?:type )?(?:\w+, )?\{([^}]*)\} from "([^"]+)"/gm;
const WHOLE = /^(?:import|export) (?:type )?\* (?:as \w+ )?from "([^"]+)"|\bimport\(\s*(?:\/\*.*?\*\/\s*)?"([^"]+)"\s*\)/gm;

/** The names in braces as the other file has them, or as this one gives them to others. */
const namesIn = (braces: string, side: "theirs" | "ours"): string[] =>
  braces
    .split(",")
    .map((one) => one.replace(/^\s*(?:\/\/.*\n\s*)*(?:type )?/, "").trim())
    .filter((one) => one !== "")
    .map((one) => one.split(/\s+as\s+/).at(side === "theirs" ? 0 : -1) as string);

const exportsOf = (source: string): string[] => [
  ...[...source.matchAll(DECLARED)].map(([, name]) => name as string),
  ...[...source.matchAll(LISTED)].flatMap(([, names]) => namesIn(names as string, "ours")),
];

/** `path name` of each export that another file imports; `path *` where a file imports all of another one. */
const listImported = (files: Sources): Set<string> => {
  const imported = new Set<string>();
  for (const [path, source] of files) {
    const targetOf = (from: string): string => (from.startsWith(".") ? posix.join(posix.dirname(path), from) : (entries[from] ?? from));
    for (const [, names, from] of source.matchAll(NAMED))
      for (const name of namesIn(names as string, "theirs")) imported.add(`${targetOf(from as string)} ${name}`);
    for (const [, fixed, lazy] of source.matchAll(WHOLE)) imported.add(`${targetOf((fixed ?? lazy) as string)} *`);
  }
  return imported;
};

/** Lists `path: name` of each export that no other file imports. Exports of entry points are for others. */
const listUnused = (files: Sources): string[] => {
  const imported = listImported(files);
  const open = new Set(Object.values(entries));
  return [...files]
    .filter(([path]) => !open.has(path) && !imported.has(`${path} *`))
    .flatMap(([path, source]) => exportsOf(source).flatMap((name) => (imported.has(`${path} ${name}`) ? [] : `${path}: ${name}`)));
};

test("every export is imported by another file", () => {
  expect(listUnused(sources).filter((one) => !USED_OTHERWISE.some(([exported]) => exported.test(one)))).toEqual([]);
});

describe("the walk", () => {
  const cases: [string, Record<string, string>, string[]][] = [
    ["finds what nobody imports", { "a.ts": "export const x = 1;\nexport async function y() {}" }, ["a.ts: x", "a.ts: y"]],
    ["finds a list of exports", { "a.ts": "const x = 1;\nexport { x as y };" }, ["a.ts: y"]],
    ["sees imports", { "a.ts": "export const x = 1;", "b/c.ts": 'import {\n  type x as y,\n} from "../a.ts";' }, []],
    ["sees lazy imports", { "a.ts": "export const x = 1;", "b.ts": 'const { x } = await import("./a.ts");' }, []],
    ["asks that what is passed on is used", { "a.ts": "export const x = 1;", "b.ts": 'export { x } from "./a.ts";' }, ["b.ts: x"]],
    ["leaves entry points alone", { "packages/sdk/src/index.ts": "export const x = 1;" }, []],
  ];
  test.each(cases)("%s", (_name, files, unused) => {
    expect(listUnused(new Map(Object.entries(files)))).toEqual(unused);
  });
});
