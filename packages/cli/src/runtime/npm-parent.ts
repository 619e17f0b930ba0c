import { readFileSync } from "node:fs";

// `sh -c`, which npm puts between itself and the program where the shell does not replace itself by it.
const SHELL = /(?:^|\/)(?:ba|da|k|z|a)?sh(?:\s|$)/;

/**
 * The processes whose end means that npm or npx was killed: the parent and, where that is the shell of npm, npm itself, which such a shell
 * outlives. None where npm did not start this program, because a shell may start a server in the background and end.
 */
export function listNpmProcesses(parent: number, env: Readonly<Record<string, string | undefined>>): readonly number[] {
  if (env["npm_execpath"] === undefined) return [];
  const described = process.platform === "win32" ? null : describeProcess(parent);
  return described !== null && described.parent > 1 && SHELL.test(described.command) ? [parent, described.parent] : [parent];
}

interface Described {
  readonly parent: number;
  readonly command: string;
}

/** Null when the system does not tell. */
function describeProcess(pid: number): Described | null {
  try {
    // After the name of the program, which may contain spaces and parentheses: the state, then the parent.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    return { parent, command: readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[0] ?? "" };
  } catch {
    return askPs(pid);
  }
}

/** Asks ps, for systems without /proc such as macOS. */
function askPs(pid: number): Described | null {
  try {
    // Loaded only here, where the system has no /proc.
    const { execFileSync } = process.getBuiltinModule("node:child_process");
    const line = execFileSync("ps", ["-o", "ppid=,comm=", "-p", String(pid)], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const [, parent, command = ""] = /^\s*(\d+)\s+(.*)$/m.exec(line) ?? [];
    return parent === undefined ? null : { parent: Number(parent), command };
  } catch {
    return null;
  }
}
