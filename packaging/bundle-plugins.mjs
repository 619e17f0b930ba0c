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

/**
 * What is not bundled: optional dependencies of dependencies, which are not installed, and what listhen has for its own command
 * line.
 */
export const ABSENT = ["pg-native", "react-devtools-core", "jiti", "@parcel/watcher-wasm"];

export const bundlePlugins = [englishOnly, quietHttp, undiciClient];
