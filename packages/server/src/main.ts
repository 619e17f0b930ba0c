import module from "node:module";
import { fileURLToPath } from "node:url";

// What was compiled once is kept beside the program and belongs to whoever the program does: a quarter of a start. Where nothing
// can be written, all is compiled each time.
module.enableCompileCache?.(fileURLToPath(new URL("../.compiled", import.meta.url)));
await import("./program.ts");
