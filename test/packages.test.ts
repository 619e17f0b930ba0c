import { execFile, execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeVersion } from "../scripts/release.mjs";
import { ONE_CHECKER } from "./support/compiler.ts";
import { npmEnvironment } from "./support/npm-user.ts";
import { usePublishedPackages } from "./support/published.ts";
import { checkSbom } from "./support/sbom.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const bin = (name: string) => join(root, "node_modules/.bin", name);

const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as { version: string };

const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { repository: { type: string; url: string } };

/** The packages as they are published; `types` says how their declarations are judged. */
const packages = [
  { folder: "sdk", name: "@mailsvc/sdk", types: "node16" },
  { folder: "agent-kit", name: "@mailsvc/agent-kit", types: "node16" },
  { folder: "server", name: "@mailsvc/server", types: "esm-only" },
  { folder: "cli", name: "mailsvc", types: null },
  { folder: "create-mailsvc-agent", name: "create-mailsvc-agent", types: null },
] as const;

let work = "";
let tarballs: Readonly<Record<string, string>>;
const tarball = (name: string): string => {
  const file = tarballs[name];
  if (file === undefined) throw new Error(`${name} was not published.`);
  return file;
};
const listed = (name: string): string[] =>
  execFileSync("tar", ["-tzf", tarball(name)], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((path) => path.replace(/^package\//, ""));

const environment = () => npmEnvironment(work, join(work, "home"));

/** Runs a program. */
async function run(command: string, args: string[], cwd = work): Promise<{ status: number; output: string; stdout: string }> {
  const options = { cwd, env: environment(), maxBuffer: 1e8 };
  return promisify(execFile)(command, args, options).then(
    ({ stdout, stderr }) => ({ status: 0, output: `${stdout}${stderr}`, stdout }),
    ({ code, stdout, stderr }) => ({ status: code as number, output: `${stdout}${stderr}`, stdout: stdout as string }),
  );
}

/** An empty project. */
function project(name: string): string {
  const folder = join(work, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  return folder;
}

beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), "packages-"));
  mkdirSync(join(work, "home"));
  tarballs = await usePublishedPackages(work);
  project("");
  const ours = packages.map(({ name }) => name);
  const installed = await run("npm", ["install", ...ours, "@types/node"]);
  expect(installed.status, installed.output).toBe(0);
});
afterAll(async () => {
  rmSync(work, { recursive: true, force: true });
});

describe.each(packages)("$name", ({ folder, name }) => {
  test("has nothing that publint objects to", async () => {
    const buffer = readFileSync(tarball(name));
    const data = buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength);
    const { messages, pkg } = await publint({ pack: { tarball: data as ArrayBuffer }, strict: true, level: "warning" });
    expect(pkg).toMatchObject({ name, repository: { ...repository, directory: `packages/${folder}` } });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  test("carries its licence and what it runs on, and no sources or tests", () => {
    const files = listed(name);
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "package.json"]));
    expect(files.filter((path) => /(^|\/)src\/|\.test\.|tsconfig|\.tsx?$/.test(path.replace(/\.d\.ts$/, "")))).toEqual([]);
  });

  test.runIf(["@mailsvc/server", "mailsvc"].includes(name))("passes on the licences of what its bundle holds", () => {
    const text = readFileSync(join(work, "node_modules", name, "dist/THIRD-PARTY-LICENSES.txt"), "utf8");
    expect(text).toMatch(name === "@mailsvc/server" ? /^h3 \d.*\(MIT\)$/m : /^ink \d.*\(MIT\)$/m);
    expect(
      [...text.matchAll(/^\S+ \d\S* \((.+)\)$/gm)]
        .map(([, licence]) => licence)
        .filter((licence) => /GPL|SSPL|BUSL/.test(licence ?? "") && !/ OR /.test(licence ?? "")),
    ).toEqual([]);
  });

  test.runIf(["@mailsvc/server", "mailsvc"].includes(name))("has a bill of materials of what its bundle holds", async () => {
    const dist = join(work, "node_modules", name, "dist");
    const components = await checkSbom(join(dist, "sbom.cdx.json"), join(dist, "THIRD-PARTY-LICENSES.txt"));
    expect(components.map((component) => component.name)).toContain(name === "mailsvc" ? "ink" : "h3");
  });

  test("declares nothing in terms of its sources, or of what only its bundle holds", () => {
    for (const path of listed(name).filter((file) => file.endsWith(".d.ts"))) {
      const text = readFileSync(join(work, "node_modules", name, path), "utf8");
      expect(text, path).not.toMatch(/from "[^"]+\.tsx?"|import\("[^"]+\.tsx?"\)|packages\/\w+\/src/);
      expect(text, path).not.toMatch(/(?:from |import\()"(?:drizzle-orm|h3|pg|srvx|nodemailer|better-sqlite3)\b/);
    }
  });
});

test.each(packages.filter(({ types }) => types !== null))(
  "$name has types that every way of importing it finds",
  async ({ name, types }) => {
    const { status, output } = await run(bin("attw"), [
      tarball(name),
      "--profile",
      String(types),
      "--format",
      "ascii",
      "--no-emoji",
      "--no-color",
    ]);
    expect(status, output).toBe(0);
  },
);

/** Bytes of all files in a folder. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
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
const dual = ["@mailsvc/sdk", "@mailsvc/sdk/contract", "@mailsvc/sdk/testing", ...kitModules];
const modules = [...dual, "@mailsvc/server", "@mailsvc/server/testing"];

describe("a project that uses them", () => {
  test("imports every entry", async () => {
    const code = `const names = {}; for (const id of ${JSON.stringify(modules)}) names[id] = Object.keys(await import(id)).length;
      console.log(JSON.stringify(names));`;
    const { status, stdout, output } = await run(process.execPath, ["--input-type=module", "-e", code]);
    expect(status, output).toBe(0);
    const names = JSON.parse(stdout) as Record<string, number>;
    expect(Object.keys(names)).toEqual(modules);
    expect(Object.entries(names).filter(([, count]) => count === 0)).toEqual([]);
  });

  test("requires every entry from CommonJS and finds the same names", async () => {
    const code = `(async () => { const names = {}; for (const id of ${JSON.stringify(dual)}) { const cjs = require(id); const esm = await import(id);
      names[id] = [Object.keys(cjs).sort(), Object.keys(esm).filter((k) => k !== "default" && k !== "module.exports").sort()]; }
      console.log(JSON.stringify(names)); })()`;
    const { status, stdout, output } = await run(process.execPath, ["--input-type=commonjs", "-e", code]);
    expect(status, output).toBe(0);
    const names = JSON.parse(stdout) as Record<string, [string[], string[]]>;
    expect(Object.keys(names)).toEqual(dual);
    for (const [id, [cjs, esm]] of Object.entries(names)) expect([id, cjs]).toEqual([id, esm]);
  });

  test("checks its types and those of a test world, as ES modules, CommonJS and through a bundler, libraries included", async () => {
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
    const world = `
      import { createWorld, type TestMail, toHaveSent } from "@mailsvc/server/testing";
      export const code = async (): Promise<string> => {
        await using world = await createWorld({ seed: 1, dns: { txt: async () => [] } });
        const mail: TestMail = await world.inbox.waitFor({ to: "ada@example.com" });
        return mail.links[0] ?? mail.code() ?? (await toHaveSent(world, { subject: /x/ })).message();
      };
    `;
    write("types/esm.mts", use);
    write("types/world.mts", world);
    write("types/cjs.cts", use);
    write("types/bundled.ts", use);
    const strict = {
      strict: true,
      noEmit: true,
      target: "es2023",
      lib: ["es2023", "dom", "dom.iterable", "esnext.disposable"],
      types: ["node"],
    };
    const project = (module: string, moduleResolution: string, files: string[], skipLibCheck = false) =>
      JSON.stringify({ compilerOptions: { ...strict, skipLibCheck, module, moduleResolution }, files });
    const node = write("types/tsconfig.json", project("nodenext", "nodenext", ["esm.mts", "cjs.cts", "world.mts"]));
    // A bundler reads the same declarations.
    const bundler = write("types/bundler/tsconfig.json", project("esnext", "bundler", ["../bundled.ts"], true));
    for (const file of [node, bundler]) {
      const { status, output } = await run(bin("tsc"), ["-p", file, ...ONE_CHECKER]);
      expect(status, output).toBe(0);
    }
  });

  test("checks its types against the server", async () => {
    write(
      "server/use.mts",
      'import * as server from "@mailsvc/server";\nimport { createWorld } from "@mailsvc/server/testing";\nexport const use = [server, createWorld];\n',
    );
    const options = { strict: true, noEmit: true, skipLibCheck: true, target: "es2023", module: "nodenext", types: ["node"] };
    const file = write("server/tsconfig.json", JSON.stringify({ compilerOptions: options, files: ["use.mts"] }));
    const { status, output } = await run(bin("tsc"), ["-p", file, ...ONE_CHECKER]);
    expect(status, output).toBe(0);
  });
});

describe("a user", () => {
  /** The packages of a node_modules folder, without those npm put there for itself. */
  const installedIn = (folder: string): string[] =>
    globSync(["*/package.json", "@*/*/package.json"], { cwd: join(folder, "node_modules") }).map((file) => dirname(file));

  test("gets a small installation: what the bundles hold is not installed again", async () => {
    const folder = project("small");
    const { status, output } = await run("npm", ["install", "mailsvc"], folder);
    expect(status, output).toBe(0);
    const names = installedIn(folder);
    expect(names).toEqual(expect.arrayContaining(["mailsvc", "@mailsvc/server", "@mailsvc/sdk", "better-sqlite3"]));
    expect(names.length).toBeLessThanOrEqual(10);
    expect(sizeOf(join(folder, "node_modules"))).toBeLessThan(66 * 1024 * 1024);
  });

  test("begins an agent with npm create", async () => {
    const folder = join(work, "create");
    mkdirSync(folder);
    const { status, output } = await run("npm", ["create", "--yes", "mailsvc-agent", "greeter"], folder);
    expect(status, output).toBe(0);
    const manifest = JSON.parse(readFileSync(join(folder, "greeter/package.json"), "utf8"));
    expect(manifest).toMatchObject({ name: "greeter", dependencies: { "@mailsvc/agent-kit": version } });
  });
});

describe("a release", () => {
  test("can be of the version that the packages have, as long as the changelog does not name it", () => {
    const copy = join(work, "first-release");
    const manifests = globSync("{package,package-lock,{packages,examples}/*/package}.json", { cwd: root });
    for (const file of ["CHANGELOG.md", ...manifests]) cpSync(join(root, file), join(copy, file));
    writeVersion(copy, version, "2099-01-01");
    expect(readFileSync(join(copy, "CHANGELOG.md"), "utf8")).toContain(`\n## ${version} (2099-01-01)\n`);
    expect(() => writeVersion(copy, version, "2099-01-02")).toThrow(`${version} is not newer than ${version}.`);
  });

  test("has one version and its heading in the changelog everywhere", () => {
    const copy = join(work, "release");
    const manifests = globSync("{package,package-lock,{packages,examples}/*/package,packages/cli/templates/agent/*/package}.json", {
      cwd: root,
    });
    for (const file of ["CHANGELOG.md", ...manifests]) cpSync(join(root, file), join(copy, file));
    writeVersion(copy, "99.1.0", "2099-01-02");
    for (const file of manifests) {
      const text = readFileSync(join(copy, file), "utf8");
      const { name, version: own } = JSON.parse(text) as { name: string; version: string };
      expect([file, own]).toEqual([file, name === "__NAME__" ? version : "99.1.0"]);
      for (const [, dependency, range] of text.matchAll(/"(@mailsvc\/[\w-]+|mailsvc)": "([^"]+)"/g))
        if (range !== "bin/mailsvc.mjs" && range !== "./bin/mailsvc.mjs")
          expect([file, dependency, range]).toEqual([file, dependency, "99.1.0"]);
    }
    expect(readFileSync(join(copy, "CHANGELOG.md"), "utf8")).toContain("\n## Unreleased\n\n## 99.1.0 (2099-01-02)\n\n### Added\n");
    expect(() => writeVersion(copy, "99.1.0", "2099-01-02")).toThrow("99.1.0 is not newer than 99.1.0.");
    expect(() => writeVersion(copy, "soon", "2099-01-02")).toThrow("soon is not a version");
  });

  test("is not published as the latest before the changelog names it", async () => {
    const { status, output } = await run(process.execPath, [join(root, "scripts/release.mjs"), "publish"], root);
    expect([status, output]).toEqual([1, `CHANGELOG.md has no entry ${version}: npm run release -- version …\n`]);
  });

  test("can be tried without publishing", async () => {
    const { status, output } = await run(process.execPath, [join(root, "scripts/release.mjs"), "publish", "--dry-run"], root);
    expect(status, output).toBe(0);
    // They are on the registry already, so npm has nothing to add; a repeated publication passes over them in the same way.
    for (const { name } of packages) expect(output).toContain(`${name}@${version}`);
  });
});

describe("the agent kit", () => {
  test("contains no other package", () => {
    const files = listed("@mailsvc/agent-kit").filter((path) => path.endsWith(".js"));
    const sizes = files.map((path) => [path, statSync(join(work, "node_modules/@mailsvc/agent-kit", path)).size] as const);
    expect(sizes.filter(([, size]) => size > 120_000)).toEqual([]);
    const text = files.map((path) => readFileSync(join(work, "node_modules/@mailsvc/agent-kit", path), "utf8")).join("\n");
    const imported = [...text.matchAll(/(?:from|import\(|require\()\s*"([^".][^"]*)"/g)].map(([, id]) => id as string);
    expect([...new Set(imported)].filter((id) => !isBuiltin(id))).toEqual(["@mailsvc/server/testing"]);
    // Workers and Deno find Node's modules by their prefix only.
    expect(imported.filter((id) => isBuiltin(id) && !id.startsWith("node:"))).toEqual([]);
  });
});

describe("the command line", () => {
  test("has React in its production build", () => {
    const dist = join(work, "node_modules/mailsvc/dist");
    const text = globSync("**/*.js", { cwd: dist })
      .map((file) => readFileSync(join(dist, file), "utf8"))
      .join("\n");
    // Texts of the development build, and of the production build.
    expect(text.includes('Each child in a list should have a unique "key" prop')).toBe(false);
    expect(text.includes("https://react.dev/errors/")).toBe(true);
  });

  const launcher = () => join(work, "node_modules/mailsvc/bin/mailsvc.mjs");

  test("runs from the packed package and says its version", async () => {
    const { status, output } = await run(process.execPath, [launcher(), "--version"]);
    expect(status, output).toBe(0);
    expect(output).toContain(version);
  });

  test("refuses an older Node in one clear line", async () => {
    const pretend =
      'Object.defineProperty(process, "versions", { value: { node: "22.18.0" } }); Object.defineProperty(process, "version", { value: "v22.18.0" });';
    const preload = write("older.mjs", pretend);
    const { status, output } = await run(process.execPath, ["--import", preload, launcher(), "--version"]);
    expect(status).toBe(2);
    expect(output).toBe("mailsvc needs Node 22.19 or newer; this is v22.18.0.\n");
  });
});
