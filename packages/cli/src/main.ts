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
      // Whoever asks twice does not want to wait for a clean end.
      if (signals > 1) process.exit(130);
      fire(signal);
    };
    process.on("SIGINT", hear).on("SIGTERM", hear);
    return () => process.off("SIGINT", hear).off("SIGTERM", hear);
  },
  fetch: (input, init) => globalThis.fetch(input, init),
};

// The version is asked for by scripts, in loops; nothing needs to be loaded to give it.
if (host.argv.length === 1 && (host.argv[0] === "--version" || host.argv[0] === "-V")) {
  process.stdout.write(`${host.version}\n`);
} else {
  // What was compiled once is kept beside the program and belongs to whoever the program does. Where nothing can be written,
  // all is compiled each time.
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
