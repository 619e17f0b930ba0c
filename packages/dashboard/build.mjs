// Builds the dashboard: a page, a style sheet, and one script for each part that a browser loads by itself. Their names contain a hash.
//
//   node packages/dashboard/build.mjs      prints what each route loads
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";

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
 * @param {{ plugins?: import("esbuild").Plugin[], quality?: number }} [options] `quality` of the compression, up to 11: the best takes seconds
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
 * bytes after gzip.
 *
 * @returns {Promise<{ first: number, routes: Record<string, number>, parts: Record<string, number> }>}
 */
export async function measureDashboard() {
  const { files, outputs } = await bundle();
  const closure = (name) => listImports(outputs, name);
  const size = (names) => [...names].reduce((sum, name) => sum + gzipSync(files.get(name) ?? "", { level: 9 }).length, 0);
  const entry = [...outputs].find(([, { entryPoint }]) => entryPoint?.endsWith("main.tsx"))?.[0] ?? "";
  const base = closure(entry);
  const sizes = (folder) =>
    Object.fromEntries(
      [...outputs].flatMap(([name, { entryPoint }]) => {
        const part = new RegExp(`^src/${folder}/(.+)\\.tsx?$`).exec(entryPoint ?? "")?.[1];
        return part === undefined ? [] : [[part, size(closure(name).difference(base))]];
      }),
    );
  return { first: size(base), routes: sizes("pages"), parts: sizes("parts") };
}

/** Texts by name, and what each script imports. */
async function bundle({ plugins = [] } = {}) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: here,
    entryPoints: { main: "src/main.tsx", style: "src/style/main.css" },
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2023",
    platform: "browser",
    minify: true,
    charset: "utf8",
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    outdir: "assets",
    metafile: true,
    write: false,
    logLevel: "warning",
    plugins,
  });
  const outputs = new Map(Object.entries(metafile.outputs));
  const files = new Map(outputFiles.map(({ path, text }) => [toName(path), text]));
  const find = (name, type) => [...files.keys()].find((file) => new RegExp(`^assets/${name}-\\w+\\.${type}$`).test(file)) ?? "";
  const icon = readFileSync(join(here, "src/icon.svg"), "utf8");
  const iconName = `assets/icon-${hash(icon).slice(0, 8)}.svg`;
  files.set(iconName, icon);
  const page = readFileSync(join(here, "src/index.html"), "utf8")
    .replace("{style}", `/dashboard/${find("style", "css")}`)
    .replace("{script}", `/dashboard/${find("main", "js")}`)
    .replace("{preload}", () => listPreloads(outputs, find("main", "js")))
    .replace("{scripts}", () => JSON.stringify(listScripts(outputs, find("main", "js"))).replaceAll('"', "&quot;"))
    .replace("{icon}", `/dashboard/${iconName}`);
  files.set("index.html", page);
  return { files, outputs };
}

/** A script and all that it imports before it can run. */
function listImports(outputs, name, seen = new Set()) {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const { path, kind } of outputs.get(name)?.imports ?? []) if (kind === "import-statement") listImports(outputs, path, seen);
  return seen;
}

/** Links by which a browser asks for all scripts of the first view at once, instead of following their imports. */
function listPreloads(outputs, main) {
  const names = [...listImports(outputs, main)].filter((name) => name !== main);
  return names.map((name) => `<link rel="modulepreload" href="/dashboard/${name}">`).join("\n");
}

/** The scripts that each route needs besides those of the first view, as places in a list of names. */
function listScripts(outputs, main) {
  const base = listImports(outputs, main);
  const modules = new Map(
    [...outputs].flatMap(([name, { entryPoint }]) => (entryPoint?.startsWith("src/pages/") ? [[entryPoint, name]] : [])),
  );
  const files = [];
  const place = (name) => (files.includes(name) ? files.indexOf(name) : files.push(name) - 1);
  const found = readFileSync(join(here, "src/routes.ts"), "utf8").matchAll(
    /path: "([^"]+)", load: \(\) => import\("\.\/(pages\/[^"]+)"\)/g,
  );
  const routes = [...found].map(([, path, module]) => {
    const names = listImports(outputs, modules.get(`src/${module}`)).difference(base);
    return [path, [...names].map((name) => place(name.slice("assets/".length)))];
  });
  return { files, routes: Object.fromEntries(routes) };
}

const toName = (path) => path.slice(here.length).replaceAll("\\", "/");

const hash = (text) => createHash("sha256").update(text).digest("base64url");

const pack = (name, content, quality) => {
  const bytes = Buffer.from(content);
  const type = TYPES[name.split(".").at(-1)];
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return { type, etag: hash(bytes).slice(0, 22), brotli: brotliCompressSync(bytes, { params }) };
};

if (resolve(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) {
  const { first, routes, parts } = await measureDashboard();
  console.log(`first view  ${(first / 1000).toFixed(1)} kB`);
  for (const [route, bytes] of Object.entries({ ...routes, ...parts }))
    console.log(`${route.padEnd(11)} ${(bytes / 1000).toFixed(1)} kB more`);
}
