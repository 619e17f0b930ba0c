import module from "node:module";
import { fileURLToPath } from "node:url";
import manifest from "../package.json" with { type: "json" };

const [word, ...more] = process.argv.slice(2);
// Scripts ask for the version in loops, so nothing is loaded for it.
if ((word === "--version" || word === "-V") && more.length === 0) {
  process.stdout.write(`${manifest.version}\n`);
} else {
  // Node keeps compiled code next to the program, owned by the same user. Without write access it compiles on every start.
  module.enableCompileCache?.(fileURLToPath(new URL("../.compiled", import.meta.url)));
  const [{ processHost, tuneHeap }, { run }] = await Promise.all([import("./process-host.ts"), import("./run.ts")]);
  tuneHeap(processHost);
  process.exitCode = await run(processHost);
}
