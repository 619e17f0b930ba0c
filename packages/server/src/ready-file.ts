import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Config } from "./config.ts";
import { createFolder, PROJECT_FOLDER } from "./lib/folder.ts";
import type { RunningServer } from "./serve.ts";

/** In the data folder of a dev server: the command line and the SDK find it there, so that no key has to be copied. */
const DEV_FILE = "dev.json";

type Server = Pick<
  RunningServer,
  "url" | "workspaceId" | "apiKey" | "operatorKey" | "profiles" | "dashboardUrl" | "smtpUrl" | "resendUrl" | "keysFile"
>;

/** Data that other programs need to reach the server: its address and the known keys. */
function toReadyFile({ url, workspaceId, apiKey, operatorKey, profiles, dashboardUrl, smtpUrl, resendUrl }: Server): object {
  const addresses = { dashboardUrl, smtpUrl, ...(resendUrl !== null && { resendUrl }) };
  return { url, workspaceId, apiKey, operatorKey, ...addresses, ...(profiles && { profiles }), pid: process.pid };
}

/**
 * Returns the announcement for stdout, which may end in a log: with keys only in dev mode or when `isTerminal`. Otherwise it
 * names the file that holds them.
 */
export function toAnnouncement(server: Server, isTerminal: boolean): object {
  const { url, workspaceId, dashboardUrl, smtpUrl, resendUrl, keysFile } = server;
  if (keysFile === null || isTerminal) return toReadyFile(server);
  return { url, workspaceId, apiKey: null, operatorKey: null, dashboardUrl, smtpUrl, ...(resendUrl !== null && { resendUrl }), keysFile };
}

/**
 * The files that exist while the server runs: the one of --ready-file, and dev.json in the data of a dev server and where the
 * programs of its project look. There, the file of another server that runs is left alone: the first one of a project is found.
 */
export function listReadyFiles({ dev, data, readyFile, project }: Config): string[] {
  const found = project === null ? null : join(project, PROJECT_FOLDER, DEV_FILE);
  const files = [
    ...(readyFile === null ? [] : [readyFile]),
    ...(dev ? [join(data, DEV_FILE)] : []),
    ...(found === null || isOfOther(found) ? [] : [found]),
  ];
  return [...new Set(files.map((file) => resolve(file)))];
}

/** Writes a ready file, readable by its owner only, because it may hold keys. */
export function writeReadyFile(file: string, server: Server): void {
  createFolder(resolve(dirname(file)));
  // Written next to it and renamed, so that no reader sees half a file.
  const temporary = `${file}.tmp`;
  writeFileSync(temporary, formatReadyFile(server), { mode: 0o600 });
  chmodSync(temporary, 0o600);
  renameSync(temporary, file);
}

/** Removes a ready file, unless another server has written it since. */
export function removeReadyFile(file: string, server: Server): void {
  try {
    if (readFileSync(file, "utf8") === formatReadyFile(server)) rmSync(file);
  } catch {
    // It is gone already.
  }
}

/** Removes the dev.json that a killed server left behind. */
export function removeDevFile({ data }: Config): void {
  rmSync(join(data, DEV_FILE), { force: true });
}

/** True if a dev.json belongs to another server that still runs. */
function isOfOther(file: string): boolean {
  try {
    const { pid } = JSON.parse(readFileSync(file, "utf8")) as { pid?: unknown };
    if (typeof pid !== "number" || !Number.isInteger(pid) || pid <= 1 || pid === process.pid) return false;
    process.kill(pid, 0);
    return true;
  } catch {
    // No file, a damaged one, or one that a killed server left behind.
    return false;
  }
}

function formatReadyFile(server: Server): string {
  return `${JSON.stringify(toReadyFile(server), null, 2)}\n`;
}
