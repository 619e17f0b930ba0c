import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DevServerFile, Host } from "../types.ts";

const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/**
 * Finds the dev server of this project: `.mailsvc/dev.json` in the working folder or a folder above it, which the server keeps
 * while it runs. Ignores a file that another user owns or can write, names a server on another machine, or whose server is gone.
 */
export function findDevServer(host: Host): DevServerFile | null {
  for (let folder = host.cwd; ; folder = dirname(folder)) {
    const found = readDevFile(host, join(folder, ".mailsvc", "dev.json"));
    if (found) return found;
    if (dirname(folder) === folder) return null;
  }
}

function readDevFile(host: Host, path: string): DevServerFile | null {
  try {
    const stat = statSync(path);
    const foreign = host.userId !== undefined && (stat.uid !== host.userId || (stat.mode & 0o022) !== 0);
    if (foreign) return null;
    const { url, apiKey, operatorKey, profiles, pid } = JSON.parse(readFileSync(path, "utf8")) as Partial<DevServerFile>;
    if (typeof url !== "string" || typeof apiKey !== "string" || typeof pid !== "number") return null;
    if (!LOOPBACK.test(new URL(url).hostname) || !host.isRunning(pid)) return null;
    return { path, url, apiKey, operatorKey: operatorKey ?? null, profiles: profiles ?? {}, pid };
  } catch {
    // No file, or none of ours.
    return null;
  }
}
