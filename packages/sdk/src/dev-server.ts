import { isLoopbackHost } from "./contract/loopback.ts";
import { environment } from "./runtime.ts";

/** The address and key of a running dev server. */
export interface DevServer {
  readonly url: string;
  readonly apiKey: string;
}

/**
 * Finds the dev server of this project: `.mailsvc/dev.json` in the working folder or a folder above it, which `mailsvc dev` keeps
 * while it runs. Ignores a file that another user owns or can read, names a server on another machine, or whose server is
 * gone. The folders of MAILSVC_CEILING and those above them are not searched. Null where there is no file system, and in production.
 */
export function findDevServer(): DevServer | null {
  if (typeof process === "undefined" || environment("NODE_ENV") === "production") return null;
  const fs = process.getBuiltinModule?.("node:fs");
  const path = process.getBuiltinModule?.("node:path");
  if (!fs || !path) return null;
  const ceilings = environment("MAILSVC_CEILING")?.split(path.delimiter) ?? [];
  for (let folder = process.cwd(); !ceilings.includes(folder); folder = path.dirname(folder)) {
    const found = readDevFile(fs, path.join(folder, ".mailsvc", "dev.json"));
    if (found || path.dirname(folder) === folder) return found;
  }
  return null;
}

function readDevFile(fs: typeof import("node:fs"), file: string): DevServer | null {
  try {
    const stat = fs.lstatSync(file);
    const user = process.getuid?.();
    if (!stat.isFile() || (user !== undefined && (stat.uid !== user || (stat.mode & 0o077) !== 0))) return null;
    const { url, apiKey, pid } = JSON.parse(fs.readFileSync(file, "utf8")) as { url: string; apiKey: string; pid: number };
    if (typeof apiKey !== "string" || !isLoopbackHost(new URL(url).hostname)) return null;
    // 0 and negative numbers name groups of processes, which always exist.
    if (!Number.isInteger(pid) || pid <= 1) return null;
    // Throws when the server was killed and left its file behind.
    process.kill(pid, 0);
    return { url, apiKey };
  } catch {
    return null;
  }
}
