import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../packages/server/dist/main.js", import.meta.url));

/** A built server in dev mode, as its own process. */
interface DevServer extends AsyncDisposable {
  readonly url: string;
  /** Key of the brand's workspace. */
  readonly apiKey: string;
  /** Key of the builder's workspace. */
  readonly builderKey: string;
  /** Key that manages workspaces. */
  readonly operatorKey: string;
}

interface ReadyFile {
  readonly url: string;
  readonly apiKey: string;
  readonly operatorKey: string;
  readonly profiles: { readonly builder: { readonly apiKey: string } };
}

/** Waits until something holds, a minute at most. Throws with what was waited for. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  for (let left = 1200; !holds(); left -= 1) {
    if (left === 0) throw new Error(`Waited a minute for ${what}.`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

/** The environment without what belongs to the test runner or points at another server. No dev server is found outside of the tests' folders. */
export function cleanEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:VITEST|MAILSVC_(?!CEILING)|NODE_ENV|NODE_OPTIONS)/.test(name)),
  );
}

/** Starts a server on a free port, with data of its own; disposing stops it and removes the data. */
export async function startServer(): Promise<DevServer> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-server-"));
  const ready = join(folder, "ready.json");
  const args = ["--dev", "--port", "0", "--data", join(folder, "data"), "--ready-file", ready];
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "ignore", "pipe"], env: cleanEnvironment() });
  let log = "";
  child.stderr.on("data", (data) => (log += data));
  const ended = new Promise((done) => child.on("exit", done));
  await until("the server", () => existsSync(ready) || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}: ${log}`);
  const { url, apiKey, operatorKey, profiles } = JSON.parse(readFileSync(ready, "utf8")) as ReadyFile;
  return {
    url,
    apiKey,
    builderKey: profiles.builder.apiKey,
    operatorKey,
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
