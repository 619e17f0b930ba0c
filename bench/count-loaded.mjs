// Counts the bytes of code that a program loads, and writes them to the file that COUNT_LOADED names when it ends.
//
//   COUNT_LOADED=/tmp/bytes node --import ./bench/count-loaded.mjs PROGRAM
import { statSync, writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

let bytes = 0;
registerHooks({
  load: (url, context, next) => {
    if (url.startsWith("file:")) bytes += statSync(fileURLToPath(url)).size;
    return next(url, context);
  },
});
process.once("exit", () => writeFileSync(process.env.COUNT_LOADED, String(bytes)));
