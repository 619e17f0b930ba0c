import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { promisify } from "node:util";
import { type StartOptions, startServer } from "../test/support/server.ts";

/** Measures the duration of a program, in ms: Node, unless another is named. Throws when it fails. */
export async function timeOf(
  args: readonly string[],
  program: string = process.execPath,
  variables: Readonly<Record<string, string>> = {},
): Promise<number> {
  const from = performance.now();
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, ...variables } });
  const [code] = (await once(child, "exit")) as [number | null];
  const took = performance.now() - from;
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}.`);
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

/**
 * Measures the start of a server, from its process to its first 200 at /readyz, in ms: the built one in dev mode, unless told otherwise.
 */
export async function firstAnswer(options: Pick<StartOptions, "data" | "program" | "flags">): Promise<number> {
  const from = performance.now();
  const server = startServer({ flags: ["--dev"], ...options });
  const ready = await server.ready();
  if (!ready) throw new Error(`The server did not start:\n${server.stderr()}`);
  const code = await readiness(ready.url);
  const took = performance.now() - from;
  await server.kill("SIGTERM");
  if (code !== 200) throw new Error(`/readyz answered ${code}.`);
  return took;
}

function readiness(url: string): Promise<number> {
  return new Promise((done, failed) => {
    get(`${url}/readyz`, { agent: false }, (answer) => {
      answer.resume();
      done(answer.statusCode ?? 0);
    }).on("error", failed);
  });
}
