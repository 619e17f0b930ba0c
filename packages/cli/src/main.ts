import module from "node:module";
import { fileURLToPath } from "node:url";
import { asksForVersion, processHost, tuneHeap } from "./process-host.ts";

if (asksForVersion(processHost)) {
  process.stdout.write(`${processHost.version}\n`);
} else {
  // Node keeps compiled code beside the program, owned by the same user. Without write access it compiles on every start.
  module.enableCompileCache?.(fileURLToPath(new URL("../.compiled", import.meta.url)));
  tuneHeap(processHost);
  const { run } = await import("./run.ts");
  process.exitCode = await run(processHost);
}
