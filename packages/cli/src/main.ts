import module from "node:module";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import manifest from "../package.json" with { type: "json" };
import type { Host } from "./types.ts";

const host: Host = {
  argv: process.argv.slice(2),
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  platform: process.platform,
  nodeVersion: process.version,
  home: homedir(),
  cwd: process.cwd(),
  version: manifest.version,
  now: () => Date.now(),
  sleep,
  onSignal: (fire) => {
    let signals = 0;
    const hear = (signal: "SIGINT" | "SIGTERM"): void => {
      signals += 1;
      // A second signal ends the process at once.
      if (signals > 1) process.exit(130);
      fire(signal);
    };
    process.on("SIGINT", hear).on("SIGTERM", hear);
    return () => process.off("SIGINT", hear).off("SIGTERM", hear);
  },
  fetch: (input, init) => globalThis.fetch(input, init),
};

// Scripts ask for the version in loops: print it without loading anything.
if (host.argv.length === 1 && (host.argv[0] === "--version" || host.argv[0] === "-V")) {
  process.stdout.write(`${host.version}\n`);
} else {
  // Node keeps compiled code beside the program, owned by the same user. Without write access it compiles on every start.
  module.enableCompileCache?.(fileURLToPath(new URL("../.compiled", import.meta.url)));
  const { run } = await import("./run.ts");
  process.exitCode = await run(host);
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal?.aborted) return done();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}
