import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Part } from "./part.ts";

const MINUTES = 120;
const RATE = 150;

/** Two hours of steady load, and how fast memory grows. */
export const soak: Part = {
  name: "soak",
  title: "Memory under steady load",
  meaning: `The benchmark "soak" with ${MINUTES} minutes at ${RATE} requests a second: after a warm-up, memory right after a garbage collection may grow by less than 5 MB an hour.`,
  steps: () => 1,
  run: async (_step, { share }) => {
    const minutes = Math.max(1, Math.round(MINUTES * share));
    const bench = fileURLToPath(new URL("../../bench/run.mjs", import.meta.url));
    const child = spawn(process.execPath, [bench, "soak", "--json", "--minutes", `${minutes}`, "--rate", `${RATE}`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
    if (code !== 0) return { counts: {}, rows: [], failures: [`The benchmark ended with ${code}.`] };
    const figures = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { name: string; value: number; unit: string });
    const slope = figures.find(({ name }) => name === "soak.slope")?.value ?? Number.POSITIVE_INFINITY;
    const failures = slope < 5 ? [] : [`Memory grew by ${slope.toFixed(1)} MB an hour.`];
    return {
      counts: { minutes },
      rows: figures.map(({ name, value, unit }) => ({ figure: name, value: Math.round(value * 10) / 10, unit })),
      failures,
    };
  },
};
