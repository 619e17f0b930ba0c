import { expect, test } from "vitest";
import { tableUnder } from "./markdown.ts";
import { root, sources } from "./support/sources.ts";

const S = "packages/server/src/";

/** Tables of other modules that modules read or write, counted for each module. */
const MAX_FOREIGN = 62;

/** Modules of the tables, by the names that queries use. */
const OWNERS = new Map(
  [...sources].flatMap(([path, source]) => {
    const [, module] = /^packages\/server\/src\/(.+)\/tables\.ts$/.exec(path) ?? [];
    if (module === undefined) return [];
    return [...source.matchAll(/c\.table\(\s*"(\w+)"/g)].map(([, name = ""]) => [toProperty(name), module] as const);
  }),
);

/** The tables that the queries in a file name: `tx.t.emails`, `const { emails: e } = read.t`, or the tables of a prepared statement. */
function listTables(source: string): string[] {
  const destructured = [/\{([^{}]*)\} = \w+(?:\.\w+)*\.t\b/g, /\bt: \{([^{}]*)\}/g, /\(\w+, \{([^{}]*)\}(?:, \w+)?\) =>/g];
  const names = [
    ...[...source.matchAll(/\.t\.(\w+)/g)].map(([, name = ""]) => name),
    ...destructured.flatMap((pattern) =>
      [...source.matchAll(pattern)].flatMap(([, list = ""]) => list.split(",").map((part) => part.trim().split(":")[0] ?? "")),
    ),
  ];
  return [...new Set(names)].filter((name) => OWNERS.has(name));
}

/** Tables of other modules that each module reads or writes. */
function listForeign(): Record<string, string[]> {
  const foreign = new Map<string, Set<string>>();
  for (const [path, source] of sources) {
    const [, module] = /^packages\/server\/src\/(.+)\/[^/]+$/.exec(path) ?? [];
    if (module === undefined || /\.(test|laws)\.ts$/.test(path) || /^(db|table-data|testing)(\/|$)/.test(module)) continue;
    for (const table of listTables(source)) {
      const owner = OWNERS.get(table) ?? "";
      if (!isWithin(module, owner) && !isWithin(owner, module)) foreign.set(module, (foreign.get(module) ?? new Set()).add(table));
    }
  }
  return Object.fromEntries([...foreign].sort().map(([module, tables]) => [module, [...tables].sort()]));
}

function isWithin(module: string, other: string): boolean {
  return module === other || module.startsWith(`${other}/`);
}

function toProperty(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

test("a module reads and writes its own tables, and of others those that ARCHITECTURE.md names", () => {
  expect(OWNERS.size).toBeGreaterThan(60);
  const named = tableUnder(`${root}/ARCHITECTURE.md`, "Tables of other modules").map(
    ([module = "", tables = ""]) => [module.replaceAll("`", ""), [...tables.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)] as const,
  );
  expect(Object.fromEntries(named)).toEqual(listForeign());
});

// The number may only go down: lower it with the list.
test("modules know few tables of others", () => {
  const known = Object.values(listForeign()).reduce((sum, tables) => sum + tables.length, 0);
  expect(known).toBe(MAX_FOREIGN);
});

test("queries are found in all their forms", () => {
  const forms = [
    "tx.insert(tx.t.emails)",
    "const { emails: e, contents } = deps.db.read.t;",
    "function f({ t: { emails } }: Reader) {",
    'q.prepared("x", (build, { emails, contents }, arg) => build)',
  ];
  expect(forms.map(listTables)).toEqual([["emails"], ["emails", "contents"], ["emails"], ["emails", "contents"]]);
  expect(sources.has(`${S}emails/tables.ts`)).toBe(true);
});
