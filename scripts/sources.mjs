// Lets plain Node run the packages from their sources, by the same table of paths as the type checker:
//
//   node --import ./scripts/sources.mjs <file>
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

const root = new URL("../", import.meta.url);
const { paths } = JSON.parse(readFileSync(new URL("tsconfig.json", root), "utf8")).compilerOptions;

registerHooks({
  resolve: (specifier, context, next) => {
    const [source] = paths[specifier] ?? [];
    return next(source === undefined ? specifier : new URL(source, root).href, context);
  },
});
