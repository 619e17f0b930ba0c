import { lstatSync, readFileSync, type Stats } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { isLoopbackHost } from "@mailsvc/sdk/contract/facts";
import type { DevServerFile, Host } from "../types.ts";

/** A dev.json that is not believed, and why. */
export interface IgnoredDevFile {
  readonly path: string;
  readonly reason: string;
}

/**
 * Finds the dev server of this project: `.mailsvc/dev.json` in the working folder or a folder above it, which the server keeps
 * while it runs. A file of a server that is gone is passed over; one that no server of this user writes is `ignored`, because
 * somebody may have put it there to get mail or keys. The folders of MAILSVC_CEILING and those above them are not searched.
 */
export function searchDevServer(host: Host): { found: DevServerFile | null; ignored: IgnoredDevFile[] } {
  const ignored: IgnoredDevFile[] = [];
  const ceilings = host.env["MAILSVC_CEILING"]?.split(delimiter) ?? [];
  for (let folder = host.cwd; !ceilings.includes(folder); folder = dirname(folder)) {
    const path = join(folder, ".mailsvc", "dev.json");
    const read = readDevFile(host, path);
    if (typeof read === "string") ignored.push({ path, reason: read });
    else if (read) return { found: read, ignored };
    if (dirname(folder) === folder) break;
  }
  return { found: null, ignored };
}

/** The server of a dev.json; null when there is none or it is gone; the reason when the file is not believed. */
function readDevFile(host: Host, path: string): DevServerFile | string | null {
  const stat = lookUp(path);
  if (stat === null) return null;
  if (!stat.isFile()) return "it is no regular file";
  if (host.userId !== undefined && stat.uid !== host.userId) return "it belongs to another user";
  if (host.userId !== undefined && (stat.mode & 0o077) !== 0) return "others may read or write it, so no server wrote it like this";
  const { url, apiKey, operatorKey, profiles, pid } = parse(path);
  if (typeof url !== "string" || typeof apiKey !== "string" || !URL.canParse(url)) return "it has no address or no key";
  if (!Number.isInteger(pid) || pid === undefined || pid <= 1) return "its pid is that of no server";
  if (!isLoopbackHost(new URL(url).hostname)) return "its address is on another machine";
  return host.isRunning(pid) ? { path, url, apiKey, operatorKey: operatorKey ?? null, profiles: profiles ?? {}, pid } : null;
}

/** Null also for a file in a folder that this user may not look into, such as one that another user left in /tmp: it is of no server of theirs. */
function lookUp(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}

function parse(path: string): Partial<DevServerFile> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
