import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";

/** How long a program takes from its start to its end, in ms. Throws when it fails. */
export async function timeOf(args: readonly string[]): Promise<number> {
  const from = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  const [code] = (await once(child, "exit")) as [number | null];
  const took = performance.now() - from;
  if (code !== 0) throw new Error(`node ${args.join(" ")} ended with ${code}.`);
  return took;
}

/** The floor below every program: Node starting and ending with nothing to do. */
export function bareNode(): Promise<number> {
  return timeOf(["-e", "0"]);
}

/** Returns the output of a program. Throws if it fails. */
export async function outputOf([command = "", ...args]: readonly string[]): Promise<string> {
  return (await promisify(execFile)(command, args)).stdout;
}
