import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";

const folder = new URL("../", import.meta.url);

/** The names a module imports, and its size when it is bundled, minified and compressed. */
async function measure(entry: string) {
  const { outputFiles, metafile } = await build({
    entryPoints: [new URL(entry, folder).pathname],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "node22",
  });
  const outside = Object.values(metafile.outputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external).map(({ path }) => path),
  );
  const inside = Object.keys(metafile.inputs);
  return { outside, inside, bytes: gzipSync(outputFiles[0]?.contents ?? new Uint8Array(), { level: 9 }).length };
}

test("the core has no dependencies and less than 17.5 kB, minified and compressed", async () => {
  const { outside, inside, bytes } = await measure("src/index.ts");
  expect(outside.filter((name) => !isBuiltin(name))).toEqual([]);
  expect(inside.filter((file) => !file.startsWith("packages/agent-kit/src/"))).toEqual([]);
  expect(bytes).toBeLessThanOrEqual(17_500);
  // Only these, which Bun, Deno and Workers have too.
  expect([...new Set(outside)].sort()).toEqual(["node:async_hooks", "node:buffer", "node:crypto"]);
});

test("no entry but those for tests has dependencies", async () => {
  const { exports, ...manifest } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as {
    exports: Record<string, { import: { default: string } } | string>;
    dependencies?: object;
  };
  expect(manifest.dependencies).toBeUndefined();
  const targets = Object.entries(exports).flatMap(([path, target]) =>
    typeof target === "string" || ["./testing", "./conformance"].includes(path) ? [] : [target.import.default],
  );
  expect(targets.length).toBeGreaterThan(10);
  for (const target of targets) {
    const { outside } = await measure(target.replace("./dist/", "src/").replace(/\.js$/, ".ts"));
    expect(
      outside.filter((name) => !isBuiltin(name)),
      target,
    ).toEqual([]);
  }
});
