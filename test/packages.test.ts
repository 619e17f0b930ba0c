import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import semver from "semver";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const bin = (name: string) => join(root, "node_modules/.bin", name);

/** The packages as they are published; `types` says how their declarations are judged. */
const packages = [
  { folder: "sdk", name: "@mailsvc/sdk", types: "node16" },
  { folder: "agent-kit", name: "@mailsvc/agent-kit", types: "node16" },
  { folder: "server", name: "@mailsvc/server", types: "esm-only" },
  { folder: "cli", name: "mailsvc", types: null },
  { folder: "create-mailsvc-agent", name: "create-mailsvc-agent", types: null },
] as const;

let work = "";
const tarballs = new Map<string, string>();
const tarball = (folder: string): string => tarballs.get(folder) as string;
const listed = (folder: string): string[] =>
  execFileSync("tar", ["-tzf", tarball(folder)], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((path) => path.replace(/^package\//, ""));

const run = (command: string, args: string[], cwd = work) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } });
  return { status, output: `${stdout}${stderr}`, stdout };
};

interface Manifest {
  version: string;
  dependencies?: Record<string, string>;
}
const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;

function link(name: string): void {
  const to = join(work, "node_modules", name);
  mkdirSync(dirname(to), { recursive: true });
  if (!existsSync(to)) symlinkSync(join(root, "node_modules", name), to);
}

/** The packages that were installed from the registry. */
const installed = new Set<string>();

/** Installs the dependencies of a package, and theirs, in the versions of this repository. */
function install(folder: string): void {
  for (const [name, wanted] of Object.entries(manifestOf(folder).dependencies ?? {})) {
    if (packages.some((own) => own.name === name) || installed.has(name)) continue;
    const from = join(root, "node_modules", name);
    expect([name, semver.satisfies(manifestOf(from).version, wanted)]).toEqual([name, true]);
    installed.add(name);
    link(name);
    install(from);
  }
}

beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), "packages-"));
  const built = run(process.execPath, [join(root, "scripts/build.mjs")], root);
  expect(built.status, built.output).toBe(0);
  const modules = join(work, "node_modules");
  mkdirSync(join(modules, "@mailsvc"), { recursive: true });
  for (const { folder, name } of packages) {
    const packed = run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", work], join(root, "packages", folder));
    expect(packed.status, packed.output).toBe(0);
    const file = readdirSync(work).find((entry) => entry.endsWith(".tgz") && ![...tarballs.values()].includes(join(work, entry)));
    tarballs.set(folder, join(work, file as string));
    mkdirSync(join(modules, name), { recursive: true });
    execFileSync("tar", ["-xzf", tarball(folder), "-C", join(modules, name), "--strip-components=1"]);
  }
  // What an installation would put beside them and nothing else, so that a dependency that is not declared is missed.
  for (const { name } of packages) install(join(modules, name));
  for (const name of ["@types/node", "undici-types"]) link(name);
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

describe.each(packages)("$name", ({ folder, name }) => {
  test("has nothing that publint objects to", async () => {
    const buffer = readFileSync(tarball(folder));
    const data = buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength);
    const { messages, pkg } = await publint({ pack: { tarball: data as ArrayBuffer }, strict: true, level: "warning" });
    expect(pkg).toMatchObject({ name });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  test("carries its licence and what it runs on, and no sources or tests", () => {
    const files = listed(folder);
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "package.json"]));
    expect(files.filter((path) => /(^|\/)src\/|\.test\.|tsconfig|\.tsx?$/.test(path.replace(/\.d\.ts$/, "")))).toEqual([]);
  });

  test.runIf(["server", "cli"].includes(folder))("passes on the licences of what its bundle holds", () => {
    const text = readFileSync(join(work, "node_modules", name, "dist/THIRD-PARTY-LICENSES.txt"), "utf8");
    expect(text).toMatch(folder === "server" ? /^h3 \d.*\(MIT\)$/m : /^ink \d.*\(MIT\)$/m);
    expect(
      [...text.matchAll(/^\S+ \d\S* \((.+)\)$/gm)]
        .map(([, licence]) => licence)
        .filter((licence) => /GPL|SSPL|BUSL/.test(licence ?? "") && !/ OR /.test(licence ?? "")),
    ).toEqual([]);
  });

  test("declares nothing in terms of its sources", () => {
    for (const path of listed(folder).filter((file) => file.endsWith(".d.ts"))) {
      const text = readFileSync(join(work, "node_modules", name, path), "utf8");
      expect(text, path).not.toMatch(/from "[^"]+\.tsx?"|import\("[^"]+\.tsx?"\)|packages\/\w+\/src/);
    }
  });
});

test.each(packages.filter(({ types }) => types !== null))("$name has types that every way of importing it finds", ({ folder, types }) => {
  const { status, output } = run(bin("attw"), [
    tarball(folder),
    "--profile",
    String(types),
    "--format",
    "ascii",
    "--no-emoji",
    "--no-color",
  ]);
  expect(status, output).toBe(0);
});

/** Bytes of all files in a folder. better-sqlite3 leaves a build of its own here, which an installation does not have. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("better-sqlite3/build"))
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

const write = (file: string, text: string): string => {
  const path = join(work, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};

const kit = JSON.parse(readFileSync(join(root, "packages/agent-kit/package.json"), "utf8")) as { exports: Record<string, unknown> };
const kitModules = Object.keys(kit.exports).flatMap((path) => (path === "./package.json" ? [] : [`@mailsvc/agent-kit${path.slice(1)}`]));
const dual = ["@mailsvc/sdk", "@mailsvc/sdk/contract", ...kitModules];
const modules = [...dual, "@mailsvc/server", "@mailsvc/server/testing"];

describe("a project that uses them", () => {
  test.each(modules)("imports %s", (id) => {
    const { status, output } = run(process.execPath, [
      "--input-type=module",
      "-e",
      `console.log(Object.keys(await import("${id}")).length)`,
    ]);
    expect(status, output).toBe(0);
    expect(Number(output)).toBeGreaterThan(0);
  });

  test.each(dual)("requires %s from CommonJS and finds the same names", (id) => {
    const code = `import(${JSON.stringify(id)}).then((esm) => { const cjs = require(${JSON.stringify(id)});
      console.log(JSON.stringify([Object.keys(cjs).sort(), Object.keys(esm).filter((k) => k !== "default" && k !== "module.exports").sort()])); })`;
    const { status, stdout, output } = run(process.execPath, ["--input-type=commonjs", "-e", code]);
    expect(status, output).toBe(0);
    const [cjs, esm] = JSON.parse(stdout) as [string[], string[]];
    expect(cjs).toEqual(esm);
  });

  test("checks its types, as ES modules, CommonJS and through a bundler, libraries included", () => {
    const use = `
      import { ApiError, createClient, type SendRequest } from "@mailsvc/sdk";
      import { contract, parseMailbox } from "@mailsvc/sdk/contract";
      import { verifySignature } from "@mailsvc/agent-kit";
      const client = createClient({ apiKey: "ms_live_x", baseUrl: "http://127.0.0.1:1" });
      export const request: SendRequest = { to: "a@b.example", from: "c@d.example", subject: "x", text: "y" };
      export const send = async (): Promise<string> => { const answer = await client.emails.send(request); return answer.status; };
      // @ts-expect-error: subject is missing
      export const wrong = () => client.emails.send({ to: "a@b.example", from: "c@d.example", text: "y" });
      export const path: "/api/v1/send" = contract.emails.send.path;
      export const domain: string = parseMailbox("a@b.example").domain;
      export const index: number | null = verifySignature({ body: "", signature: null, secrets: "s" });
      export const isApi = (error: unknown): boolean => error instanceof ApiError;
    `;
    write("types/esm.mts", use);
    write("types/cjs.cts", use);
    write("types/bundled.ts", use);
    const strict = {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      target: "es2023",
      lib: ["es2023", "dom", "dom.iterable", "esnext.disposable"],
      types: ["node"],
    };
    const project = (module: string, moduleResolution: string, files: string[]) =>
      JSON.stringify({ compilerOptions: { ...strict, module, moduleResolution }, files });
    const node = write("types/tsconfig.json", project("nodenext", "nodenext", ["esm.mts", "cjs.cts"]));
    const bundler = write("types/bundler/tsconfig.json", project("esnext", "bundler", ["../bundled.ts"]));
    for (const file of [node, bundler]) {
      const { status, output } = run(bin("tsc"), ["-p", file]);
      expect(status, output).toBe(0);
    }
  });

  test("checks the types of a test world, libraries included", () => {
    const use = `
      import { createWorld, type TestMail, toHaveSent } from "@mailsvc/server/testing";
      export const code = async (): Promise<string> => {
        await using world = await createWorld({ seed: 1, dns: { txt: async () => [] } });
        const mail: TestMail = await world.inbox.waitFor({ to: "ada@example.com" });
        return mail.links()[0] ?? mail.code() ?? (await toHaveSent(world, { subject: /x/ })).message();
      };
    `;
    write("testing/use.mts", use);
    const lib = ["es2023", "dom", "dom.iterable", "esnext.disposable"];
    const options = { strict: true, noEmit: true, skipLibCheck: false, target: "es2023", lib, module: "nodenext", types: ["node"] };
    const file = write("testing/tsconfig.json", JSON.stringify({ compilerOptions: options, files: ["use.mts"] }));
    const { status, output } = run(bin("tsc"), ["-p", file]);
    expect(status, output).toBe(0);
  });

  test("checks its types against the server", () => {
    write(
      "server/use.mts",
      'import * as server from "@mailsvc/server";\nimport { createWorld } from "@mailsvc/server/testing";\nexport const use = [server, createWorld];\n',
    );
    const options = { strict: true, noEmit: true, skipLibCheck: true, target: "es2023", module: "nodenext", types: ["node"] };
    const file = write("server/tsconfig.json", JSON.stringify({ compilerOptions: options, files: ["use.mts"] }));
    const { status, output } = run(bin("tsc"), ["-p", file]);
    expect(status, output).toBe(0);
  });
});

test("an installation is small: what the bundles hold is not installed again", () => {
  const own = ["@mailsvc/sdk", "@mailsvc/server", "mailsvc"];
  const bytes = [...own, ...installed].map((name) => sizeOf(realpathSync(join(work, "node_modules", name))));
  expect(bytes.length).toBeLessThanOrEqual(10);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(62 * 1024 * 1024);
});

describe("the server", () => {
  test("ships as one lean program with the migrations beside it", () => {
    const dist = join(work, "node_modules/@mailsvc/server/dist");
    const [program = "", ...others] = readdirSync(join(dist, "chunks")).filter((file) => file.startsWith("main-program-"));
    expect(others).toEqual([]);
    expect(readFileSync(join(dist, "main.js"), "utf8")).toContain(`await import("./chunks/${program}")`);
    expect(statSync(join(dist, "chunks", program)).size).toBeLessThan(2_000_000);
    const outside = [
      ...readFileSync(join(dist, "chunks", program), "utf8").matchAll(/(?:^|;)import[^"'();]*?from\s*["']([^"']+)["']/gm),
    ].map((m) => m[1] as string);
    const foreign = outside.filter((id) => !isBuiltin(id) && !id.startsWith("./"));
    expect([...new Set(foreign)]).toEqual(["better-sqlite3"]);
    for (const dialect of ["sqlite", "pg"])
      expect(readdirSync(join(dist, "migrations", dialect)).some((f) => f.endsWith(".sql"))).toBe(true);
  });
});

describe("the agent kit", () => {
  test("contains no other package", () => {
    const files = listed("agent-kit").filter((path) => path.endsWith(".js"));
    const sizes = files.map((path) => [path, statSync(join(work, "node_modules/@mailsvc/agent-kit", path)).size] as const);
    expect(sizes.filter(([, size]) => size > 100_000)).toEqual([]);
    const text = files.map((path) => readFileSync(join(work, "node_modules/@mailsvc/agent-kit", path), "utf8")).join("\n");
    const imported = [...text.matchAll(/(?:from|import\(|require\()\s*"([^".][^"]*)"/g)].map(([, id]) => id as string);
    expect([...new Set(imported)].filter((id) => !isBuiltin(id))).toEqual(["@mailsvc/server/testing"]);
    // Workers and Deno find Node's modules by their prefix only.
    expect(imported.filter((id) => isBuiltin(id) && !id.startsWith("node:"))).toEqual([]);
  });
});

describe("the command line", () => {
  const launcher = () => join(work, "node_modules/mailsvc/bin/mailsvc.mjs");

  test("runs from the packed package and says its version", () => {
    const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as { version: string };
    const { status, output } = run(process.execPath, [launcher(), "--version"]);
    expect(status, output).toBe(0);
    expect(output).toContain(version);
  });

  test("refuses an older Node in one clear line", () => {
    const pretend =
      'Object.defineProperty(process, "versions", { value: { node: "22.18.0" } }); Object.defineProperty(process, "version", { value: "v22.18.0" });';
    const preload = write("older.mjs", pretend);
    const { status, output } = run(process.execPath, ["--import", preload, launcher(), "--version"]);
    expect(status).toBe(2);
    expect(output).toBe("mailsvc needs Node 22.19 or newer; this is v22.18.0.\n");
  });
});
