// Joins the chunks of a split bundle that are always loaded together.
import { rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { build } from "esbuild";

/**
 * Puts all chunks that the module `entry` imports, directly or not, into one file. esbuild makes a chunk for each set of lazy parts that
 * share something, some of them a few lines long, and Node takes a fifth of a start to find, read and compile them one by one.
 *
 * `outputs` are those of esbuild's metafile, of a build in the current folder; `entry` is how the path of the module ends there.
 */
export async function joinChunks(outputs, entry) {
  const [root] = Object.keys(outputs).filter((file) => outputs[file].entryPoint?.endsWith(entry));
  const joined = listImported(outputs, root);
  const file = join(dirname(root), `joined-${basename(root)}`);
  const all = joined.map((chunk, place) => reexport(`./${basename(chunk)}`, namesOf(outputs, chunk, place)));
  await build({ ...OPTIONS, stdin: { contents: all.join("\n"), resolveDir: dirname(file) }, outfile: file, plugins: [loadOnly(joined)] });
  await importFrom(file, outputs, joined);
  for (const [place, chunk] of joined.entries()) {
    // A chunk that is also imported lazily keeps its name.
    if (outputs[chunk].entryPoint) writeFileSync(chunk, reexport(`./${basename(file)}`, namesOf(outputs, chunk, place).map(turned)));
    else rmSync(chunk);
  }
}

/**
 * Writes the module `entry` anew, so that it loads no chunk before it runs. Node caches the compiled code only of what is loaded after the
 * cache is enabled, and an entry enables it.
 */
export async function detachEntry(outputs, entry, plugins) {
  const fileOf = (source) => Object.keys(outputs).find((file) => outputs[file].entryPoint && resolve(outputs[file].entryPoint) === source);
  const [source] = Object.values(outputs).flatMap(({ entryPoint }) => (entryPoint?.endsWith(entry) ? [resolve(entryPoint)] : []));
  const file = fileOf(source);
  const later = {
    name: "later",
    setup: (pass) =>
      pass.onResolve({ filter: /^\./ }, ({ path, resolveDir, kind }) => {
        const chunk = kind === "dynamic-import" ? fileOf(resolve(resolveDir, path)) : undefined;
        return chunk && { path: `./${relative(dirname(file), chunk)}`, external: true };
      }),
  };
  await build({ ...OPTIONS, minifySyntax: true, entryPoints: [source], outfile: file, allowOverwrite: true, plugins: [later, ...plugins] });
}

const OPTIONS = {
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node22",
  minifyWhitespace: true,
  legalComments: "none",
  logLevel: "error",
};

/** The chunks that Node loads before this one, in the order in which it runs them. */
function listImported(outputs, root) {
  const visited = new Set();
  const visit = (chunk) => {
    if (visited.has(chunk)) return [];
    visited.add(chunk);
    const below = outputs[chunk].imports.filter(({ path, kind }) => kind === "import-statement" && path in outputs);
    return [...below.flatMap(({ path }) => visit(path)), chunk];
  };
  return visit(root).filter((chunk) => chunk !== root);
}

/** Makes the other files import from the joined one what they imported from its parts. */
async function importFrom(file, outputs, joined) {
  const others = Object.keys(outputs).filter((other) => other.endsWith(".js") && !joined.includes(other));
  for (const [folder, entryPoints] of Map.groupBy(others, dirname)) {
    const lead = {
      name: "lead-to-joined",
      setup: (pass) =>
        pass.onLoad({ filter: /./ }, ({ path }) => {
          const place = joined.findIndex((chunk) => resolve(chunk) === path);
          if (place === -1) return undefined;
          return { contents: reexport(`./${relative(folder, file)}`, namesOf(outputs, joined[place], place).map(turned)) };
        }),
    };
    await build({ ...OPTIONS, entryPoints, outdir: folder, allowOverwrite: true, plugins: [loadOnly(joined), lead] });
  }
}

/** Lists the exports of a chunk, each with its name in the joined file, because several chunks may use one name. */
const namesOf = (outputs, chunk, place) => outputs[chunk].exports.map((name) => [name, `${name}$${place}`]);

const turned = ([name, as]) => [as, name];

const reexport = (from, names) =>
  names.length === 0 ? `import "${from}";` : `export { ${names.map(([name, as]) => `${name} as ${as}`).join(", ")} } from "${from}";`;

/** Everything but these chunks stays outside. The sources' package says that its modules have no side effects; chunks do. */
function loadOnly(chunks) {
  const paths = new Set(chunks.map((chunk) => resolve(chunk)));
  return {
    name: "load-only",
    setup: (pass) =>
      pass.onResolve({ filter: /./ }, ({ path, resolveDir, kind }) => {
        if (kind === "entry-point") return undefined;
        const chunk = resolve(resolveDir, path);
        return kind === "import-statement" && paths.has(chunk) ? { path: chunk, sideEffects: true } : { path, external: true };
      }),
  };
}
