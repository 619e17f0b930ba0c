// Compares mailsvc with what people use instead, and prints the table of docs/comparison.md:
//
//   npm run bench:stacks -- [--only WORD …] [--rounds N] [--save]
//   npm run bench:stacks -- --tools [--only WORD …] [--save]
//
// The first compares servers, in about ten minutes; --tools compares what people test their mail with, in one. --only takes those whose names
// contain a word; --save writes the table into the page.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    rounds: { type: "string", default: "3" },
    save: { type: "boolean", default: false },
    tools: { type: "boolean", default: false },
  },
});
if (!(Number(values.rounds) >= 1)) throw new Error("--rounds must be 1 or more.");
// The stacks are measured as they are built; the build does nothing if it is up to date.
execFileSync(process.execPath, [fileURLToPath(new URL("../../scripts/build.mjs", import.meta.url))], { stdio: ["ignore", 2, 2] });
const { installApps } = await import("./process.ts");
installApps();
const { compare, compareTools } = await import("./compare.ts");
const chosen = { only: values.only ?? [], save: values.save };
await (values.tools ? compareTools(chosen) : compare({ ...chosen, rounds: Number(values.rounds) }));
