import module from "node:module";
import { fileURLToPath } from "node:url";

// Caches compiled code next to the program, with the program's owner: saves a quarter of the start. If nothing can be written
// there, all code is compiled each time.
module.enableCompileCache?.(fileURLToPath(new URL("../.compiled", import.meta.url)));
await import("./program.ts");
