// Compares mailsvc with what people use instead, and prints the table of docs/comparison.md:
//
//   npm run bench:stacks -- [--only WORD …] [--rounds N] [--save]
//
// --only takes the stacks whose names contain a word; --save writes the table into the page. About ten minutes.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const apps = fileURLToPath(new URL("./apps/", import.meta.url));
const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    rounds: { type: "string", default: "3" },
    save: { type: "boolean", default: false },
  },
});
if (!(Number(values.rounds) >= 1)) throw new Error("--rounds must be 1 or more.");
// The stacks are measured as they are built; the build does nothing if it is up to date.
execFileSync(process.execPath, [fileURLToPath(new URL("../../scripts/build.mjs", import.meta.url))], { stdio: ["ignore", 2, 2] });
if (!existsSync(`${apps}node_modules`)) execFileSync("npm", ["ci", "--ignore-scripts"], { cwd: apps, stdio: ["ignore", 2, 2] });
const { compare } = await import("./compare.ts");
await compare({ only: values.only ?? [], rounds: Number(values.rounds), save: values.save });
