import { environment } from "./runtime.ts";

/** The address and key of a running dev server. */
export interface DevServer {
  readonly url: string;
  readonly apiKey: string;
}

const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/**
 * Finds the dev server of this project: `.mailsvc/dev.json` in the working folder or a folder above it, which `mailsvc dev` keeps
 * while it runs. Ignores a file that another user owns or can write, names a server on another machine, or whose server is
 * gone. Null where there is no file system, and in production.
 */
export function findDevServer(): DevServer | null {
  if (typeof process === "undefined" || environment("NODE_ENV") === "production") return null;
  const fs = process.getBuiltinModule?.("node:fs");
  const path = process.getBuiltinModule?.("node:path");
  if (!fs || !path) return null;
  for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
    const found = readDevFile(fs, path.join(folder, ".mailsvc", "dev.json"));
    if (found || path.dirname(folder) === folder) return found;
  }
}

function readDevFile(fs: typeof import("node:fs"), file: string): DevServer | null {
  try {
    const { uid, mode } = fs.statSync(file);
    const user = process.getuid?.();
    if (user !== undefined && (uid !== user || (mode & 0o022) !== 0)) return null;
    const { url, apiKey, pid } = JSON.parse(fs.readFileSync(file, "utf8")) as { url: string; apiKey: string; pid: number };
    if (typeof apiKey !== "string" || !LOOPBACK.test(new URL(url).hostname)) return null;
    // Throws when the server was killed and left its file behind.
    process.kill(pid, 0);
    return { url, apiKey };
  } catch {
    return null;
  }
}
