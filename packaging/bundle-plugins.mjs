// Plugins for bundles that contain all their dependencies.
import { basename, dirname, join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { build } from "esbuild";

// zod loads messages in 40 languages, a third of the code a start compiles; only English is used.
const englishOnly = {
  name: "english-only",
  setup: (pass) => {
    pass.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: 'export { default as en } from "./en.js";' }));
  },
};

// Importing node:http into an ES module reads all its exports, some of which load a whole HTTP client: 30 ms of a start. With
// require they stay lazy.
const quietHttp = {
  name: "quiet-http",
  setup: (pass) => {
    pass.onResolve({ filter: /^(?:node:)?https?$/ }, ({ path, kind }) =>
      // A dynamic import of a replaced module would get its default export only.
      kind === "require-call" || kind === "dynamic-import" ? { path, external: true } : { path, namespace: "quiet-http" },
    );
    pass.onLoad({ filter: /./, namespace: "quiet-http" }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

// Of undici only the client: its fetch, WebSockets, caches, mocks and experimental parser are two thirds of it. Another name that is
// imported from it fails the build.
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

// Tables of old character sets, more than half of what mailauth brings: it reads headers as bytes, and asks for none.
const withoutCharsets = {
  name: "without-charsets",
  setup: (pass) => {
    pass.onResolve({ filter: /^(?:iconv-lite|encoding-japanese)$/ }, ({ path }) => ({ path, namespace: "without-charsets" }));
    pass.onLoad({ filter: /./, namespace: "without-charsets" }, () => ({ contents: "module.exports = {};" }));
  },
};

// The program of a thread is a file among the sources. A bundle contains its text instead, with all that it imports, so that it works
// wherever the bundle is, also inside the single binary.
const threadPrograms = {
  name: "thread-programs",
  setup: (pass) => {
    pass.onLoad({ filter: /packages[\\/]server[\\/]src[\\/]inbound[\\/].*-program\.ts$/ }, async ({ path }) => {
      const name = basename(path, "-program.ts");
      const exported = `${name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase())}Program`;
      const file = join(dirname(path), `${name}.worker.ts`);
      // The licences of what is inside are collected as those of the bundle.
      const plugins = pass.initialOptions.plugins.filter(({ name }) => name === "collect-packages");
      const { outputFiles, metafile } = await build({
        entryPoints: [file],
        bundle: true,
        format: "cjs",
        platform: "node",
        target: "node22",
        charset: "ascii",
        minify: true,
        legalComments: "none",
        metafile: true,
        write: false,
        plugins: [...plugins, withoutCharsets],
      });
      return {
        contents: `import { zstdDecompressSync } from "node:zlib";
const packed = ${JSON.stringify(zstdCompressSync(outputFiles[0].contents).toString("base64"))};
export const ${exported} = { get source() { return zstdDecompressSync(Buffer.from(packed, "base64")).toString(); }, eval: true };`,
        watchFiles: Object.keys(metafile.inputs),
      };
    });
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
      // The licences of what is inside are collected as those of the bundle.
      const plugins = pass.initialOptions.plugins.filter(({ name }) => name === "collect-packages");
      const files = await buildDashboard({ plugins });
      const packed = [...files].map(([name, { brotli, ...rest }]) => [name, { ...rest, brotli: Buffer.from(brotli).toString("base64") }]);
      return {
        contents: `const packed = ${JSON.stringify(packed)};
export const files = () => new Map(packed.map(([name, file]) => [name, { ...file, brotli: Buffer.from(file.brotli, "base64") }]));`,
      };
    });
  },
};

/**
 * What is not bundled: optional dependencies of dependencies, which are not installed, and what listhen has for its own command
 * line.
 */
export const ABSENT = ["pg-native", "react-devtools-core", "jiti", "@parcel/watcher", "@parcel/watcher-wasm"];

export const bundlePlugins = [englishOnly, quietHttp, undiciClient, threadPrograms, dashboardFiles];
