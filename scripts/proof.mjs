// Tries what the documentation claims, for hours: kills, random requests, hostile mail and forms, disturbed worlds, a month, power cuts, steady load.
//
//   npm run proof -- [kills] [turns] [agents] [proposals] [consent] [fuzz] [mails] [forms] [worlds] [month] [power] [soak] [--share 0.05] [--fresh] [--save]
//
// It goes on where it was stopped; --fresh begins anew. --share runs a part of it, --save writes the figures into docs/reliability.md.
// The report is build/proof/report.html. Power cuts need strace, on Linux.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import "./sources.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const { values, positionals } = parseArgs({
  options: {
    share: { type: "string", default: "1" },
    fresh: { type: "boolean", default: false },
    save: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const { parts, prove } = await import("../test/proof/proof.ts");
const unknown = positionals.filter((name) => !parts.some((part) => part.name === name));
if (unknown.length > 0) throw new Error(`There is no part ${unknown.join(", ")}. There are: ${parts.map(({ name }) => name).join(", ")}.`);
if (!(Number(values.share) > 0 && Number(values.share) <= 1)) throw new Error("--share must be above 0 and at most 1.");
// Build the server to test; this does nothing if it is up to date.
execFileSync(process.execPath, [`${root}scripts/build.mjs`], { stdio: ["ignore", 2, 2] });
const held = await prove({
  only: positionals,
  share: Number(values.share),
  fresh: values.fresh,
  save: values.save,
  folder: `${root}build/proof`,
});
process.exitCode = held ? 0 : 1;
