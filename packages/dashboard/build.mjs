// Builds the dashboard: a page, a style sheet, and one script for each part that a browser loads by itself. Their names contain a hash.
//
//   node packages/dashboard/build.mjs      prints what each route loads
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";
import { rolldown } from "rolldown";
import { planChunks } from "./chunks.mjs";

const here = fileURLToPath(new URL("./", import.meta.url));

const TYPES = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  svg: "image/svg+xml",
};

/**
 * Builds all files.
 *
 * @param {{ onModule?: (path: string) => void, quality?: number }} [options] `onModule` hears of each module; `quality` of the compression,
 *   up to 11: the best takes seconds
 * @returns {Promise<Map<string, { type: string, etag: string, brotli: Uint8Array }>>} the files by name
 */
export async function buildDashboard({ quality = constants.BROTLI_MAX_QUALITY, ...options } = {}) {
  const { files } = await bundle(options);
  return new Map([...files].map(([name, content]) => [name, pack(name, content, quality)]));
}

let built = null;

/** The files for servers that run from the sources. A process with several of them, such as one of tests, builds them once. */
export function buildOnce() {
  built ??= buildDashboard({ quality: 4 });
  return built;
}

/**
 * The scripts that a browser loads for the first view, for each route in addition, and for parts that a page loads when it needs them, in
 * bytes after gzip. `files` has how many they are, for the first view and for each route besides.
 *
 * @returns {Promise<{ first: number, routes: Record<string, number>, parts: Record<string, number>, files: { first: number, routes: Record<string, number> } }>}
 */
export async function measureDashboard() {
  const { files, scripts } = await bundle();
  const base = listImports(scripts, findMain(scripts));
  const size = (names) => [...names].reduce((sum, name) => sum + gzipSync(files.get(name) ?? "", { level: 9 }).length, 0);
  const list = (folder, measure) =>
    Object.fromEntries(
      [...scripts.values()].flatMap(({ fileName, facadeModuleId }) => {
        const part = new RegExp(`/src/${folder}/(.+)\\.tsx?$`).exec(facadeModuleId?.replaceAll("\\", "/") ?? "")?.[1];
        return part === undefined ? [] : [[part, measure(listImports(scripts, fileName).difference(base))]];
      }),
    );
  const count = (names) => names.size;
  return {
    first: size(base),
    routes: list("pages", size),
    parts: list("parts", size),
    files: { first: base.size, routes: list("pages", count) },
  };
}

/** Texts by name, and the scripts. */
async function bundle({ onModule = () => {} } = {}) {
  const [style, scripts] = await Promise.all([bundleStyle(), bundleScripts(onModule)]);
  const icon = readFileSync(join(here, "src/icon.svg"), "utf8");
  const styleName = `assets/style-${hash(style).slice(0, 8)}.css`;
  const iconName = `assets/icon-${hash(icon).slice(0, 8)}.svg`;
  const main = findMain(scripts);
  const page = readFileSync(join(here, "src/index.html"), "utf8")
    .replace("{style}", `/dashboard/${styleName}`)
    .replace("{script}", `/dashboard/${main}`)
    .replace("{scripts}", () => JSON.stringify(listScripts(scripts, main)).replaceAll('"', "&quot;"))
    .replace("{icon}", `/dashboard/${iconName}`);
  const code = [...scripts].map(([name, { code }]) => [name, code]);
  return { files: new Map([...code, [styleName, style], [iconName, icon], ["index.html", page]]), scripts };
}

/** The style sheet, which rolldown does not make. */
async function bundleStyle() {
  const { outputFiles } = await build({
    absWorkingDir: here,
    entryPoints: ["src/style/main.css"],
    bundle: true,
    target: "es2023",
    minify: true,
    charset: "utf8",
    legalComments: "none",
    write: false,
    logLevel: "warning",
  });
  return outputFiles[0]?.text ?? "";
}

/** The scripts by name, with what each imports. */
async function bundleScripts(onModule) {
  const { plugin, group } = planChunks("/src/main.tsx");
  const listen = {
    name: "listen",
    load: (id) => {
      onModule(id);
      return null;
    },
  };
  const built = await rolldown({
    cwd: here,
    input: { main: "src/main.tsx" },
    platform: "browser",
    transform: { target: "es2023", jsx: { runtime: "automatic", importSource: "preact" } },
    preserveEntrySignatures: "allow-extension",
    plugins: [listen, plugin],
    logLevel: "warn",
    // A busy machine is slow in everything.
    checks: { bundlerTimings: false },
  });
  const { output } = await built.generate({
    format: "es",
    minify: true,
    comments: false,
    entryFileNames: "assets/[name]-[hash].js",
    chunkFileNames: "assets/[name]-[hash].js",
    codeSplitting: { includeDependenciesRecursively: false, groups: [group] },
  });
  await built.close();
  return new Map(output.filter(({ type }) => type === "chunk").map((chunk) => [chunk.fileName, chunk]));
}

const findMain = (scripts) => [...scripts.values()].find(({ isEntry }) => isEntry).fileName;

/** A script and all that it imports before it can run. */
function listImports(scripts, name, seen = new Set()) {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const path of scripts.get(name)?.imports ?? []) listImports(scripts, path, seen);
  return seen;
}

/** The scripts that each route needs besides those of the first view, as places in a list of names. */
function listScripts(scripts, main) {
  const base = listImports(scripts, main);
  const modules = new Map(
    [...scripts.values()].flatMap(({ facadeModuleId, fileName }) => (facadeModuleId ? [[resolve(facadeModuleId), fileName]] : [])),
  );
  const files = [];
  const place = (name) => (files.includes(name) ? files.indexOf(name) : files.push(name) - 1);
  const found = readFileSync(join(here, "src/routes.ts"), "utf8").matchAll(
    /path: "([^"]+)", load: \(\) => import\("\.\/(pages\/[^"]+)"\)/g,
  );
  const routes = [...found].map(([, path, module]) => {
    const names = listImports(scripts, modules.get(join(here, "src", module))).difference(base);
    return [path, [...names].map((name) => place(name.slice("assets/".length)))];
  });
  return { files, routes: Object.fromEntries(routes) };
}

const hash = (text) => createHash("sha256").update(text).digest("base64url");

const pack = (name, content, quality) => {
  const bytes = Buffer.from(content);
  const type = TYPES[name.split(".").at(-1)];
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return { type, etag: hash(bytes).slice(0, 22), brotli: brotliCompressSync(bytes, { params }) };
};

if (resolve(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) {
  const { first, routes, parts, files } = await measureDashboard();
  console.log(`first view  ${(first / 1000).toFixed(1)} kB in ${files.first} files`);
  for (const [route, bytes] of Object.entries({ ...routes, ...parts })) {
    const more = files.routes[route] === undefined ? "" : ` in ${files.routes[route]} files`;
    console.log(`${route.padEnd(16)} ${(bytes / 1000).toFixed(1)} kB more${more}`);
  }
}
