// Plugins for bundles that contain all their dependencies.
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, dirname, join } from "node:path";
import { brotliCompressSync, zstdCompressSync } from "node:zlib";
import { build } from "esbuild";

/** Of a package's manifest only its version is used: all of it would be 2 kB of every program that has the SDK. */
export const versionOnly = {
  name: "version-only",
  setup: (pass) =>
    pass.onLoad({ filter: /packages[\\/][\w-]+[\\/]package\.json$/ }, ({ path }) => {
      const { version } = JSON.parse(readFileSync(path, "utf8"));
      return { contents: JSON.stringify({ version }), loader: "json" };
    }),
};

// zod loads messages in 40 languages, a third of the code a start compiles; only English is used.
const englishOnly = {
  name: "english-only",
  setup: (pass) => {
    pass.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: 'export { default as en } from "./en.js";' }));
  },
};

// Node's modules are taken whole, and only the names that are used are read: an import of an ES module reads all their exports, some of
// which load more of Node, such as streams for node:fs and a whole HTTP client for node:http. That took 19 ms of a start.
const usedBuiltins = {
  name: "used-builtins",
  setup: (pass) => {
    pass.onResolve({ filter: /./ }, ({ path, kind }) => {
      if (!isBuiltin(path)) return undefined;
      // A dynamic import of a replaced module would get its default export only.
      return kind === "import-statement" ? { path, namespace: "builtin", sideEffects: false } : { path, external: true };
    });
    pass.onLoad({ filter: /./, namespace: "builtin" }, ({ path }) => {
      const names = Object.keys(process.getBuiltinModule(path)).filter((name) => name !== "default");
      const contents = [
        `const __builtin = /* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(path)});`,
        "const __read = (name) => __builtin[name];",
        "export default __builtin;",
        // esbuild drops a pure call whose result nothing imports.
        ...names.map((name) => `export const ${name} = /* @__PURE__ */ __read(${JSON.stringify(name)});`),
      ];
      return { contents: contents.join("\n") };
    });
  },
};

// Nodemailer's table of 2,000 file types is loaded with the first attachment. Its other modules import it too, for functions that nothing
// calls: this import is dropped, and a second copy, which is the one that is loaded, keeps esbuild from putting both into one chunk.
const fileTypesOnDemand = {
  name: "file-types-on-demand",
  setup: (pass) => {
    pass.onResolve({ filter: /mime-types\.js$/ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (pluginData === "file-types") return undefined;
      const found = await pass.resolve(path, { kind, resolveDir, pluginData: "file-types" });
      return kind === "dynamic-import" ? { ...found, suffix: "?on-demand" } : { ...found, sideEffects: false };
    });
  },
};

// Bundles only the client of undici: its fetch, WebSockets, caches, mocks and experimental parser are two thirds of it. Importing another
// name from it fails the build.
const undiciClient = {
  name: "undici-client",
  setup: (pass) => {
    pass.onLoad({ filter: /node_modules[\\/]undici[\\/]index\.js$/ }, () => ({
      contents: `
        import api from "./lib/api/index.js";
        import buildConnector from "./lib/core/connect.js";
        import util from "./lib/core/util.js";
        import Client from "./lib/dispatcher/client.js";
        import Dispatcher from "./lib/dispatcher/dispatcher.js";
        import { getGlobalDispatcher } from "./lib/global.js";
        Object.assign(Dispatcher.prototype, api);
        export { buildConnector, Client };
        export function request(url, { dispatcher = getGlobalDispatcher(), ...options }) {
          const { origin, pathname, search } = util.parseURL(url);
          return dispatcher.request({ ...options, origin, path: pathname + search });
        }`,
    }));
    pass.onLoad({ filter: /node_modules[\\/]undici[\\/]lib[\\/]milo[\\/]/ }, () => ({
      contents: 'throw new Error("The experimental parser of undici is not bundled.");',
    }));
  },
};

// jq as WebAssembly: 930 kB, a quarter of it compressed. Only a command with --jq loads it.
const compressedJq = {
  name: "compressed-jq",
  setup: (pass) => {
    pass.onLoad({ filter: /jq-wasm[\\/]dist[\\/]inline\.mjs$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      const contents = source.replace(/__toBinaryNode\("(AGFzb[^"]+)"\)/, (_, wasm) => {
        const packed = brotliCompressSync(Buffer.from(wasm, "base64")).toString("base64");
        return `process.getBuiltinModule("node:zlib").brotliDecompressSync(Buffer.from("${packed}", "base64"))`;
      });
      if (contents === source) throw new Error("jq-wasm has its program in another form.");
      return { contents };
    });
  },
};

// Tables of old character sets, more than half of what mailauth brings: it reads headers as bytes, and asks for none.
const withoutCharsets = {
  name: "without-charsets",
  setup: (pass) => {
    pass.onResolve({ filter: /^(?:iconv-lite|encoding-japanese)$/ }, ({ path }) => ({ path, namespace: "without-charsets" }));
    pass.onLoad({ filter: /./, namespace: "without-charsets" }, () => ({ contents: "module.exports = {};" }));
  },
};

/** The modules that name the program of a thread, by their paths. */
export const THREAD_PROGRAM = /packages[\\/]server[\\/]src[\\/]inbound[\\/].*-program\.ts$/;

/**
 * The program of a thread is a file among the sources. Makes a module for the place of the one that names it, which has its text instead, with
 * all that it imports. `plugins` are esbuild's.
 */
export const bundleThread = async (path, plugins = []) => {
  const name = basename(path, "-program.ts");
  const exported = `${name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase())}Program`;
  const { outputFiles, metafile } = await build({
    entryPoints: [join(dirname(path), `${name}.worker.ts`)],
    bundle: true,
    format: "cjs",
    platform: "node",
    target: "node22",
    charset: "ascii",
    minify: true,
    legalComments: "none",
    metafile: true,
    write: false,
    // Threads start no threads: the address of one is not read there.
    logOverride: { "empty-import-meta": "silent" },
    plugins: [...plugins, withoutCharsets],
  });
  return {
    contents: `import { zstdDecompressSync } from "node:zlib";
const packed = ${JSON.stringify(zstdCompressSync(outputFiles[0].contents).toString("base64"))};
export const ${exported} = { get source() { return zstdDecompressSync(Buffer.from(packed, "base64")).toString(); }, eval: true };`,
    watchFiles: Object.keys(metafile.inputs),
  };
};

// So that a thread works wherever the bundle is, also inside the single binary.
const threadPrograms = {
  name: "thread-programs",
  setup: (pass) => {
    // The bill of materials lists the packages in a thread's program with those of the bundle around it.
    const plugins = pass.initialOptions.plugins.filter(({ name }) => name === "collect-packages");
    pass.onLoad({ filter: THREAD_PROGRAM }, ({ path }) => bundleThread(path, plugins));
  },
};

// The dashboard is built from its sources by the server's tests. A bundle contains its files instead, compressed, as a module of its own
// that is loaded with the first request for them.
const dashboardFiles = {
  name: "dashboard-files",
  setup: (pass) => {
    pass.onLoad({ filter: /packages[\\/]server[\\/]src[\\/]dashboard[\\/]built-files\.ts$/ }, () => ({
      contents: `export const loadBuiltFiles = async () => (await import("mailsvc:dashboard")).files();`,
    }));
    pass.onResolve({ filter: /^mailsvc:dashboard$/ }, ({ path }) => ({ path, namespace: "dashboard" }));
    pass.onLoad({ filter: /./, namespace: "dashboard" }, async () => {
      const { buildDashboard } = await import("../packages/dashboard/build.mjs");
      // The bill of materials lists the packages in the dashboard with those of the bundle around it.
      const listeners = [];
      for (const { name, setup } of pass.initialOptions.plugins)
        if (name === "collect-packages") setup({ onLoad: (_, load) => listeners.push(load) });
      const onModule = (path) => {
        for (const load of listeners) load({ path });
      };
      const files = await buildDashboard({ onModule });
      const packed = [...files].map(([name, { brotli, ...rest }]) => [name, { ...rest, brotli: Buffer.from(brotli).toString("base64") }]);
      return {
        contents: `const packed = ${JSON.stringify(packed)};
export const files = () => new Map(packed.map(([name, file]) => [name, { ...file, brotli: Buffer.from(file.brotli, "base64") }]));`,
      };
    });
  },
};

/**
 * Modules that are not bundled: optional dependencies of dependencies, which are not installed, and those that listhen has for its own
 * command line.
 */
export const ABSENT = ["pg-native", "react-devtools-core", "jiti", "@parcel/watcher", "@parcel/watcher-wasm"];

export const bundlePlugins = [englishOnly, usedBuiltins, fileTypesOnDemand, undiciClient, compressedJq, threadPrograms, dashboardFiles];
