// Runs benchmarks and prints their figures:
//
//   npm run bench -- [NAME …] [--json] [--save] [--list] [--minutes N] [--rate N] [--rows N]
//
// Without a name, all but the long ones. --minutes and --rate (requests a second) are for soak, --rows for lists. --json prints one line for each figure; --save keeps them in bench/results.json, and writes bench/RESULTS.md.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const options = {
  json: { type: "boolean" },
  save: { type: "boolean" },
  list: { type: "boolean" },
  minutes: { type: "string", default: "3" },
  rate: { type: "string", default: "600" },
  rows: { type: "string", default: "1000000" },
};

/** Keeps what a bench measured, at once: a run that is stopped keeps what it has. */
function save(benches, result, { asResults, mergeResults }) {
  const file = new URL("results.json", import.meta.url);
  const results = mergeResults(benches, JSON.parse(readFileSync(file, "utf8")), [result]);
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(new URL("RESULTS.md", import.meta.url), asResults(benches, results));
}

const main = async () => {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const { benches } = await import("./benches.ts");
  if (values.list) {
    for (const { name, meaning } of benches) console.log(`${name.padEnd(8)} ${meaning.split(". ")[0]}`);
    return 0;
  }
  const unknown = positionals.filter((name) => !benches.some((bench) => bench.name === name));
  if (unknown.length > 0) {
    console.error(`There is no benchmark ${unknown.join(", ")}. There are: ${benches.map(({ name }) => name).join(", ")}.`);
    return 2;
  }
  const [minutes, rate, rows] = [Number(values.minutes), Number(values.rate), Number(values.rows)];
  if (!(minutes > 0) || !(rate > 0) || !(rows > 0)) {
    console.error("--minutes, --rate and --rows must be numbers above 0.");
    return 2;
  }
  // Benchmarks measure the built packages; the build does nothing if they are up to date.
  execFileSync(process.execPath, [fileURLToPath(new URL("../scripts/build.mjs", import.meta.url))], { stdio: ["ignore", 2, 2] });
  const report = await import("./report.ts");
  const { asLine, asRow, busy, machine } = report;
  const chosen = benches.filter(({ name, onlyByName }) => (positionals.length === 0 ? !onlyByName : positionals.includes(name)));
  if (!values.json) console.log(`${machine()} · ${busy()}\n`);
  let failed = false;
  for (const bench of chosen) {
    try {
      const about = `${machine()} · ${busy()} at the start`;
      const figures = await bench.run({ minutes, rate, rows });
      if (values.save) save(benches, { bench: bench.name, about, figures }, report);
      for (const figure of figures) console.log(values.json ? asLine(figure) : asRow(figure));
    } catch (error) {
      failed = true;
      console.error(`${bench.name}: ${error.stack}`);
    }
  }
  return failed ? 1 : 0;
};

process.exitCode = await main().catch((error) => {
  console.error(error.code?.startsWith("ERR_PARSE_ARGS") ? error.message : error.stack);
  return 2;
});
