// Plugins for bundles that contain all their dependencies.

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
      kind === "require-call" ? { path, external: true } : { path, namespace: "quiet-http" },
    );
    pass.onLoad({ filter: /./, namespace: "quiet-http" }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

/**
 * What is not bundled: optional dependencies of dependencies, which are not installed, and what listhen has for its own command
 * line.
 */
export const ABSENT = ["pg-native", "react-devtools-core", "jiti", "@parcel/watcher-wasm"];

export const bundlePlugins = [englishOnly, quietHttp];
