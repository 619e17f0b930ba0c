// Compares mailsvc with what people use instead, and prints a table of docs/comparison.md:
//
//   npm run bench:stacks -- [--tools | --steps | --receiving] [--only WORD …] [--rounds N] [--save]
//
// Without a flag it compares servers that take and deliver mail, in about twelve minutes; --tools compares what people test their mail with,
// --steps engines of durable steps, --receiving receivers of mail, which takes root. --only takes those whose names contain a word; --save writes the table into the page.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    receiving: { type: "boolean", default: false },
    rounds: { type: "string", default: "3" },
    save: { type: "boolean", default: false },
    steps: { type: "boolean", default: false },
    tools: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds);
if (!(rounds >= 1)) throw new Error("--rounds must be 1 or more.");
// The stacks are measured as they are built; the build does nothing if it is up to date.
execFileSync(process.execPath, [fileURLToPath(new URL("../../scripts/build.mjs", import.meta.url))], { stdio: ["ignore", 2, 2] });
const { installApps } = await import("./process.ts");
installApps();
const chosen = { only: values.only ?? [], save: values.save };
if (values.tools) await (await import("./compare-tools.ts")).compareTools(chosen);
else if (values.steps) await (await import("./workflows/compare.ts")).compareSteps(chosen, rounds);
else if (values.receiving) (await import("./receiving/network.mjs")).compareReceivingApart(chosen, rounds);
else await (await import("./compare.ts")).compare(chosen, rounds);
