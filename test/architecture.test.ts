import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { tableUnder } from "./markdown.ts";
import { type Import, importsOf } from "./support/imports.ts";
import { listLongFunctions } from "./support/long-functions.ts";
import { root, sources } from "./support/sources.ts";

// The import rules of ARCHITECTURE.md, as tables. A file belongs to the first zone whose pattern fits its path.
const S = "packages/server/src";
const ZONES: [zone: string, path: RegExp][] = [
  ["contract", /^packages\/sdk\/src\/contract\//],
  ["sdk", /^packages\/sdk\/src\//],
  ["agent-kit", /^packages\/agent-kit\/src\//],
  ["cli", /^packages\/cli\/src\//],
  ["dashboard-build", /^packages\/dashboard\/(?:build|chunks)\.mjs$/],
  ["dashboard", /^packages\/dashboard\/src\//],
  ["testing", /^packages\/server\/src\/testing(\/|\.ts$)/],
  ["lib", /^packages\/server\/src\/lib\//],
  ["db", /^packages\/server\/src\/db\//],
  ["queue", /^packages\/server\/src\/queue\//],
  ["mail", /^packages\/server\/src\/mail\//],
  ["html", /^packages\/server\/src\/html\//],
  ["http", /^packages\/server\/src\/http\//],
  ["root", /^packages\/server\/src\/(?:table-data\/)?[^/]+$/],
  ["feature", /^packages\/server\/src\/[^/]+\//],
];

const SERVER = ["lib", "db", "queue", "mail", "html", "http", "feature"];

/** Zones that a zone's files may import; `types` for those it may know but not use. Always its own. */
const MAY: Record<string, { use: string[]; types?: string[] }> = {
  contract: { use: [] },
  sdk: { use: ["contract"] },
  "agent-kit": { use: [] },
  cli: { use: [] },
  // The SDK's table of endpoints and its types, without the client: see packages/dashboard/README.md.
  dashboard: { use: ["sdk"] },
  "dashboard-build": { use: [] },
  lib: { use: [] },
  db: { use: ["lib"] },
  queue: { use: ["lib"], types: ["db"] },
  mail: { use: ["lib"], types: ["db"] },
  html: { use: ["lib"] },
  http: { use: ["lib", "db", "html"], types: ["queue"] },
  feature: { use: ["lib", "db", "queue", "mail", "html"], types: ["http"] },
  root: { use: SERVER },
  testing: { use: [...SERVER, "root"] },
};

/** Files beyond the table above: those that ARCHITECTURE.md names, each with what it may import. */
const EXTRA = tableUnder(`${root}/ARCHITECTURE.md`, "Exceptions").map(
  ([from = "", to = ""]) => [from.replaceAll("`", ""), to.replaceAll("`", "")] as const,
);

/** Types of a module that others may import: its dependencies and its tables. */
const DECLARED = /\/(deps|tables|marketplace\/agent-access)\.ts$/;

/** Packages that only some zones may import, and single files besides them. Other packages are free, but for `contract` and `lib`. */
const OWNED: [packages: RegExp, zones: string[], files?: RegExp][] = [
  [/^(better-sqlite3|pg|drizzle-orm\/.+)$/, ["db"]],
  [/^(h3|srvx|listhen)(\/|$)/, ["http"]],
  [/^nodemailer(\/|$)/, ["mail"]],
  [/^prom-client$/, [], /\/health\/metrics\.ts$/],
  [/^@modelcontextprotocol\/server/, [], /\/server\/src\/mcp\//],
  [/^stripe$/, [], /\/payments\/stripe\.ts$/],
  [/^(commander|ink|react)(\/|$)/, ["cli"]],
  [/^(preact|@preact\/signals|@dagrejs\/dagre)(\/|$)/, ["dashboard"]],
  [/^@mailsvc\/sdk$/, ["cli", "testing"]],
  // A part of the contract for programs that are bundled with it; the others have the whole contract anyway.
  [/^@mailsvc\/sdk\/contract\/facts$/, ["cli", "dashboard"]],
  [/^@mailsvc\/agent-kit(\/conformance)?$/, ["cli"]],
  [/^@mailsvc\/server/, [], /\/agent-kit\/src\/testing\//],
];
const ONLY: Record<string, RegExp> = { contract: /^zod$/, lib: /^(node:.+|@mailsvc\/sdk\/contract|ipaddr\.js|lru-cache)$/ };

const zoneOf = (path: string): string | undefined => ZONES.find(([, pattern]) => pattern.test(path))?.[0];
/**
 * Module of a file: its folder in `src` of its package; of the server, each folder of the marketplace is a module of its own. Files that
 * compose modules have none.
 */
const moduleOf = (path: string): string | undefined => {
  const [, name, rest = ""] = /^packages\/([^/]+)\/src\/(.+)$/.exec(path) ?? [];
  const parts = rest.split("/");
  if (parts.length === 1 || parts[0] === "table-data") return undefined;
  const before = name === "server" ? "" : `${name}/`;
  if (parts[0] !== "marketplace" || before !== "") return `${before}${parts[0]}`;
  return parts.length > 2 ? `marketplace/${parts[1]}` : undefined;
};

/** True if other modules may import a file of a module. */
const isOpen = ({ to, typeOnly }: Import): boolean =>
  posix.basename(to, ".ts") === posix.basename(posix.dirname(to)) || (typeOnly && DECLARED.test(to));

/** Files of the marketplace that compose its modules, as those in `src` do for all modules. */
const composesMarketplace = (path: string): boolean => /\/marketplace\/[^/]+$/.test(path);

const fileFault = (from: string, imported: Import): string | null => {
  const { to, typeOnly } = imported;
  const [a, b] = [zoneOf(from) as string, zoneOf(to)];
  if (b === undefined) return posix.dirname(to) === from.split("/src/")[0] ? null : "leaves the packages";
  if (EXTRA.some(([f, t]) => from.startsWith(f) && to.startsWith(t))) return null;
  if (a === "feature" && b === "feature") {
    const within = moduleOf(from) === moduleOf(to) || (composesMarketplace(from) && to.startsWith(`${S}/marketplace/`));
    return within || isOpen(imported) ? null : "reaches into another feature past its <feature>.ts";
  }
  const { use, types = [] } = MAY[a] as { use: string[]; types?: string[] };
  if (a === b || use.includes(b)) return null;
  if (types.includes(b)) return typeOnly ? null : `may import only types from ${b}`;
  return `${a} may not import ${b}`;
};

const packageFault = (from: string, { to, typeOnly, lazy }: Import): string | null => {
  const zone = zoneOf(from) as string;
  if (ONLY[zone] && !ONLY[zone].test(to)) return `${zone} may not import ${to}`;
  if (zone === "cli" && /^@mailsvc\/server/.test(to)) return lazy || typeOnly ? null : "the server is loaded lazily, with import()";
  const owner = OWNED.find(([pattern]) => pattern.test(to));
  if (owner === undefined || owner[1].includes(zone) || owner[2]?.test(from)) return null;
  return `only ${[...owner[1], owner[2]?.source].filter(Boolean).join(", ") || "nothing here"} may import ${to}`;
};

/** The first cycle of value imports through each file; types alone make none, they are gone at run time. */
const cycles = (files: ReadonlyMap<string, string>): string[] => {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path)) {
      found.push(`cycle: ${[...trail.slice(trail.indexOf(path)), path].join(" -> ")}`);
      return;
    }
    if (done.has(path)) return;
    const next = importsOf(path, files.get(path) ?? "").filter((i) => !i.typeOnly && !i.lazy && files.has(i.to));
    for (const { to } of next) visit(to, [...trail, path]);
    done.add(path);
  };
  for (const path of files.keys()) visit(path, []);
  return found;
};

/** A path without the folder of the sources that it is in. */
const inSources = (path: string): string => path.replace(/^packages\/(?:server\/src\/)?/, "");

/** Cycles of run-time imports between modules, each with one import for every step. */
const moduleCycles = (files: ReadonlyMap<string, string>): string[] => {
  const graph = new Map<string, Map<string, string>>();
  for (const [path, source] of files) {
    const from = /\.(test|laws)\.tsx?$/.test(path) ? undefined : moduleOf(path);
    if (from === undefined) continue;
    for (const { to, typeOnly, lazy } of importsOf(path, source)) {
      const module = moduleOf(to);
      if (typeOnly || lazy || module === undefined || module === from) continue;
      const next = graph.get(from) ?? new Map<string, string>();
      graph.set(from, next.set(module, `${inSources(path)} -> ${inSources(to)}`));
    }
  }
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (module: string, trail: string[]): void => {
    const start = trail.indexOf(module);
    if (start !== -1) {
      const steps = [...trail.slice(start), module];
      found.push(
        `cycle of modules: ${steps
          .slice(1)
          .map((to, i) => graph.get(steps[i] as string)?.get(to))
          .join(", ")}`,
      );
      return;
    }
    if (done.has(module)) return;
    for (const next of graph.get(module)?.keys() ?? []) visit(next, [...trail, module]);
    done.add(module);
  };
  for (const module of graph.keys()) visit(module, []);
  return found;
};

// Files that can only be understood together: each refers to all others, if only by types.
const MAX_KNOT = 9;

/** The knots: sets of files that import each other in circles, counting types too (Tarjan's strongly connected components). */
const listKnots = (files: ReadonlyMap<string, string>): string[][] => {
  const order = new Map<string, number>();
  const open: string[] = [];
  const knots: string[][] = [];
  const visit = (path: string): number => {
    const number = order.size;
    order.set(path, number);
    open.push(path);
    let low = number;
    for (const { to } of importsOf(path, files.get(path) ?? "")) {
      if (!files.has(to)) continue;
      if (!order.has(to)) low = Math.min(low, visit(to));
      else if (open.includes(to)) low = Math.min(low, order.get(to) ?? low);
    }
    if (low === number) knots.push(open.splice(open.indexOf(path)));
    return low;
  };
  for (const path of files.keys()) if (!order.has(path)) visit(path);
  return knots.filter((knot) => knot.length > 1);
};

// State a module may keep from call to call, with the reason it needs no owner.
const MODULE_STATE: Readonly<Record<string, string>> = {
  [`${S}/lib/turn.ts`]: "a process has one event loop, so its long works share one line",
  "packages/sdk/src/contract/time-zone.ts": "formatters of Intl by their time zone, 50 µs to create and never outdated",
  [`${S}/templates/engine/builtins.ts`]: "formatters of Intl by their options, 30 µs to create and never outdated",
};

/** The variables and collections at the top of a module that change while the program runs. */
const stateOf = (path: string, source: string): string[] => {
  if (!/^packages\/(?:sdk|server)\/src\/(?!testing\/)/.test(path) || /\.(test|laws)\.ts$/.test(path)) return [];
  const variables = source.matchAll(/^(?:export )?let (\w+)/gm);
  const collections = source.matchAll(
    /^(?:export )?const (\w+)(?:: (?!Readonly|readonly).+?)? =\s+(?:new (?:Map|Set|WeakMap|WeakSet)(?:<.*>)?\(\)|new LRUCache\b|\[\];|\{\};|Buffer\.alloc\w*\((?!0\)))/gm,
  );
  return [...variables, ...collections].map(([, name]) => `${path}: ${name} is state of a module; give it to an object that is created`);
};

// A longer function is a class that nobody has named yet. Tests are told at length.
const MAX_FUNCTION = 100;
const TOLD_AT_LENGTH = /\.(test|laws)\.tsx?$|(^|\/)test\//;

const longFunctionsOf = (path: string, source: string): string[] =>
  TOLD_AT_LENGTH.test(path)
    ? []
    : listLongFunctions(path, source, MAX_FUNCTION).map(({ name, line, lines }) => `${path}:${line} ${name} has ${lines} lines`);

const violations = (files: ReadonlyMap<string, string>): string[] => [
  ...[...files].flatMap(([path, source]) => {
    const lines = source.split("\n").length;
    return [
      ...(lines > 501 && !path.endsWith(".generated.ts") ? [`${path}: longer than 500 lines`] : []),
      ...(/(^|\/)(utils?|helpers?|common|misc)\.[a-z]+$/.test(path) ? [`${path}: name the file after what it holds`] : []),
      ...(path in MODULE_STATE ? [] : stateOf(path, source)),
      ...longFunctionsOf(path, source),
    ];
  }),
  ...[...files]
    .filter(([path]) => zoneOf(path) && !/\.(test|laws)\.tsx?$/.test(path))
    .flatMap(([path, source]) =>
      importsOf(path, source).flatMap((i) => {
        const fault = i.to.startsWith("packages/") ? fileFault(path, i) : packageFault(path, i);
        return fault === null ? [] : [`${path} -> ${i.to}: ${fault}`];
      }),
    ),
  ...cycles(files),
  ...moduleCycles(files),
  ...listKnots(new Map([...files].filter(([path]) => zoneOf(path) && !/\.(test|laws)\.tsx?$/.test(path))))
    .filter((knot) => knot.length > MAX_KNOT)
    .map((knot) => `knot of ${knot.length} files: ${knot.sort().join(", ")}`),
];

test("the code keeps the rules", () => {
  expect(sources.size).toBeGreaterThan(40);
  expect(violations(sources)).toEqual([]);
});

test("each rule that allows something is used", () => {
  const imports = [...sources]
    .filter(([path]) => zoneOf(path) && !/\.(test|laws)\.tsx?$/.test(path))
    .flatMap(([from, source]) => importsOf(from, source).map(({ to }) => ({ from, zone: zoneOf(from) as string, to })));
  const exceptions = EXTRA.filter(([f, t]) => !imports.some(({ from, to }) => from.startsWith(f) && to.startsWith(t)));
  // Zones that compose the product, or test it, may use all of it.
  const zones = Object.entries(MAY)
    .filter(([zone]) => zone !== "root" && zone !== "testing")
    .flatMap(([zone, { use, types = [] }]) => [...use, ...types].map((other) => [zone, other] as const))
    .filter(([a, b]) => !imports.some(({ zone, to }) => zone === a && zoneOf(to) === b));
  const packages = OWNED.flatMap(([pattern, owners, files]) => {
    const importing = imports.filter(({ to }) => pattern.test(to));
    const used = owners.filter((owner) => importing.some(({ zone }) => zone === owner));
    const alone = files && importing.some(({ from, zone }) => files.test(from) && !owners.includes(zone));
    return used.length === owners.length && alone !== false ? [] : [`${pattern.source} of ${[...owners, files?.source].join(", ")}`];
  });
  const states = Object.keys(MODULE_STATE).filter((path) => stateOf(path, sources.get(path) ?? "").length === 0);
  expect({ exceptions, zones, packages, states }).toEqual({ exceptions: [], zones: [], packages: [], states: [] });
});

describe("the rules notice", () => {
  const cases: [string, Record<string, string>, string][] = [
    [
      "a contract that imports more than zod",
      { "packages/sdk/src/contract/a.ts": 'import { x } from "undici";' },
      "contract may not import undici",
    ],
    ["a server that imports the client", { [`${S}/keys/keys.ts`]: 'import { Mailsvc } from "@mailsvc/sdk";' }, "may import @mailsvc/sdk"],
    [
      "a CLI that loads the server at once",
      { "packages/cli/src/serve.ts": 'import { main } from "@mailsvc/server/main";' },
      "loaded lazily",
    ],
    [
      "a dashboard that imports the command line",
      { "packages/dashboard/src/pages/a.tsx": 'import { x } from "../../../cli/src/import/table.ts";' },
      "dashboard may not import cli",
    ],
    ["an SDK that imports the server", { "packages/sdk/src/a.ts": 'import { x } from "@mailsvc/server";' }, "may import @mailsvc/server"],
    ["a driver outside db/", { [`${S}/keys/store.ts`]: 'import Database from "better-sqlite3";' }, "may import better-sqlite3"],
    [
      "a dialect outside db/",
      { [`${S}/keys/store.ts`]: 'import { x } from "drizzle-orm/sqlite-core";' },
      "may import drizzle-orm/sqlite-core",
    ],
    ["h3 outside http/", { [`${S}/keys/handlers.ts`]: 'import { H3 } from "h3";' }, "may import h3"],
    ["a dynamic import of h3", { [`${S}/keys/handlers.ts`]: 'const x = await import("h3");' }, "may import h3"],
    ["lib that imports db", { [`${S}/lib/a.ts`]: 'import type { Db } from "../db/db.ts";' }, "lib may not import db"],
    ["a queue that uses db", { [`${S}/queue/a.ts`]: 'import { open } from "../db/sqlite.ts";' }, "only types from db"],
    [
      "http that knows a feature",
      { [`${S}/http/a.ts`]: 'import { send } from "../transactional/transactional.ts";' },
      "http may not import feature",
    ],
    ["a feature in another's store", { [`${S}/keys/keys.ts`]: 'import { x } from "../senders/store.ts";' }, "past its <feature>.ts"],
    [
      "a module of the marketplace in another's store",
      { [`${S}/marketplace/runs/runs.ts`]: 'import { x } from "../activations/store.ts";' },
      "past its <feature>.ts",
    ],
    ["a re-export", { [`${S}/keys/keys.ts`]: 'export {\n  x,\n} from "../senders/store.ts";' }, "past its <feature>.ts"],
    ["a way out of the packages", { [`${S}/keys/keys.ts`]: 'import x from "../../../sdk/test/x.ts";' }, "leaves the packages"],
    ["a cycle", { [`${S}/lib/a.ts`]: 'import { b } from "./b.ts";', [`${S}/lib/b.ts`]: 'import { a } from "./a.ts";' }, "cycle: "],
    [
      "a cycle of modules without a cycle of files",
      {
        [`${S}/lists/a.ts`]: 'import { b } from "../segments/segments.ts";',
        [`${S}/segments/c.ts`]: 'import { d } from "../lists/lists.ts";',
      },
      "cycle of modules: lists/a.ts -> segments/segments.ts, segments/c.ts -> lists/lists.ts",
    ],
    [
      "a cycle of modules in another package",
      {
        "packages/cli/src/views/a.ts": 'import { b } from "../folders/b.ts";',
        "packages/cli/src/folders/c.ts": 'import { d } from "../views/d.ts";',
      },
      "cycle of modules: cli/src/views/a.ts -> cli/src/folders/b.ts, cli/src/folders/c.ts -> cli/src/views/d.ts",
    ],
    [
      "a module that names what composes the product",
      { [`${S}/keys/keys.ts`]: 'import type { Deps } from "../deps.ts";' },
      "feature may not import root",
    ],
    [
      "a module that names the tables of all modules",
      { [`${S}/keys/keys.ts`]: 'import type { Tables } from "../schema.ts";' },
      "feature may not import root",
    ],
    [
      "a module that uses another's table, not only its type",
      { [`${S}/keys/keys.ts`]: 'import { senderTables } from "../senders/tables.ts";' },
      "past its <feature>.ts",
    ],
    [
      "ten files that know each other by types",
      Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`${S}/lib/f${i}.ts`, `import type { T } from "./f${(i + 1) % 10}.ts";`])),
      "knot of 10 files: ",
    ],
    [
      "a long function whose lines are mostly closing brackets",
      { [`${S}/lib/a.ts`]: `export const f = () => {\n${"g({\n});\n".repeat(50)}};\n` },
      "lib/a.ts:1 f has 102 lines",
    ],
    ["a giant", { [`${S}/lib/a.ts`]: "\n".repeat(501) }, "longer than 500 lines"],
    ["a variable of a module", { [`${S}/lib/a.ts`]: "let last = 0;" }, "last is state of a module"],
    ["a cache of a module", { [`${S}/keys/keys.ts`]: "const cache = new Map<string, Map<string, Key>>();" }, "cache is state of a module"],
    ["a cache of the contract", { "packages/sdk/src/contract/a.ts": "const seen = new Map<string, Box>();" }, "seen is state of a module"],
    ["a list of a module", { [`${S}/lib/a.ts`]: "export const waiting: (() => void)[] = [];" }, "waiting is state of a module"],
    ["a drawer for everything", { [`${S}/lib/utils.ts`]: "" }, "name the file after what it holds"],
  ];
  test.each(cases)("%s", (_name, files, message) => {
    expect(violations(new Map(Object.entries(files))).join("\n")).toContain(message);
  });

  test("nothing where all is well", () => {
    const files = {
      [`${S}/lib/a.ts`]: 'import { b } from "./b.ts";',
      [`${S}/lib/c.ts`]:
        'const KINDS = new Set(["a"]);\nconst NONE: ReadonlyMap<string, string> = new Map();\nfunction f() {\n  let n = 0;\n}',
      [`${S}/lib/b.ts`]: 'import type { A } from "./a.ts";\n// import { x } from "../db/db.ts"',
      [`${S}/queue/a.ts`]: 'import type { Tx } from "../db/db.ts";',
      [`${S}/queue/b.ts`]: `class Long {\n${"  f() {\n    return 1;\n  }\n".repeat(40)}}\nfunction hundred() {\n${"g();\n".repeat(98)}}\n`,
      [`${S}/keys/keys.ts`]: 'import { x } from "../senders/senders.ts";\nimport { eq } from "drizzle-orm";',
      "packages/sdk/src/version.ts": 'import pkg from "../package.json" with { type: "json" };',
      "packages/cli/src/serve.ts": 'const { main } = await import("@mailsvc/server/main");',
    };
    expect(violations(new Map(Object.entries(files)))).toEqual([]);
  });
});

test("ARCHITECTURE.md names every module", () => {
  const page = readFileSync(`${root}/ARCHITECTURE.md`, "utf8");
  const ofServer = [...sources.keys()].filter((path) => path.startsWith(`${S}/`));
  const modules = new Set(ofServer.flatMap((path) => moduleOf(path)?.split("/")[0] ?? []));
  expect(modules.size).toBeGreaterThan(40);
  expect([...modules].filter((module) => !new RegExp(`[\`/]${module}[\`/.]`).test(page))).toEqual([]);
});

test("importing a module does nothing: no output, no timer, no listener, no open handle", () => {
  const entries = ["sdk/src/index.ts", "agent-kit/src/index.ts", "server/src/index.ts", "server/src/testing.ts", "server/src/lib/clock.ts"];
  const code = `
    const before = process.eventNames().length;
    for (const file of ${JSON.stringify(entries.map((e) => `${root}packages/${e}`).filter(existsSync))}) await import(file);
    console.log(JSON.stringify({ listeners: process.eventNames().length - before, timers: process.getActiveResourcesInfo().filter((r) => /Timeout|Immediate|TCP|FSEvent/.test(r)) }));`;
  const args = ["--import", `${root}scripts/sources.mjs`, "--input-type=module", "-e", code];
  expect(execFileSync(process.execPath, args, { encoding: "utf8" })).toBe('{"listeners":0,"timers":[]}\n');
});
