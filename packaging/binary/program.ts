// The program inside the single binary.
import { processHost, tuneHeap } from "../../packages/cli/src/process-host.ts";
import { run } from "../../packages/cli/src/run.ts";

tuneHeap(processHost);
void run(processHost).then((exit) => {
  process.exitCode = exit;
});
