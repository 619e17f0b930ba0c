import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onCore } from "../cores.ts";
import { APPS } from "./process.ts";

// Accounting of the processor time of processes, whoever their parents are; version 1 and version 2 of control groups.
const GROUPS = ["/sys/fs/cgroup/cpuacct", "/sys/fs/cgroup"];

/** Program of a Debian package that is unpacked beside the comparison, because these packages exclude each other. */
export interface DebianProgram {
  readonly name: string;
  /** The package, and libraries of it that are not on every machine. */
  readonly packages: readonly string[];
  /** Users that it runs as; they exist for it alone. */
  readonly users: readonly string[];
  /** Folders at fixed paths that it looks for: empty for it alone, and on the disk if they begin with /var/spool. */
  readonly folders: readonly string[];
}

/** Returns the reason a program cannot run here; null when it can. Unpacks it on first use. */
export function debianMissing(program: DebianProgram): string | null {
  if (process.getuid?.() !== 0) return "only root can run it apart from the system";
  if (!groupRoot()) return "this machine has no control groups, which its processor time is read from";
  try {
    unpack(program);
    return null;
  } catch {
    return `Debian's package ${program.packages[0]} could not be fetched (apt-get download)`;
  }
}

/** Folder with the files of the packages. */
function unpack({ name, packages }: DebianProgram): string {
  const folder = join(APPS, "node_modules/.debian", name);
  if (existsSync(folder)) return folder;
  const work = mkdtempSync(join(tmpdir(), "mailsvc-bench-debian-"));
  execFileSync("apt-get", ["download", ...packages], { cwd: work, stdio: "ignore" });
  for (const file of readdirSync(work)) execFileSync("dpkg-deb", ["-x", join(work, file), join(work, "root")]);
  mkdirSync(join(folder, ".."), { recursive: true });
  renameSync(join(work, "root"), folder);
  rmSync(work, { recursive: true });
  return folder;
}

/** A program of Debian that runs with mounts of its own: the system sees nothing of its users and folders. */
export class ApartProgram {
  /** Its folder, which it owns: what it configures and keeps. */
  readonly folder: string;
  readonly #program: DebianProgram;
  readonly #root: string;
  readonly #group: string;

  constructor(program: DebianProgram) {
    this.#program = program;
    this.#root = unpack(program);
    this.folder = mkdtempSync(join(tmpdir(), `mailsvc-bench-${program.name}-`));
    this.#group = join(groupRoot() ?? "", `mailsvc-bench-${program.name}-${process.pid}`);
    mkdirSync(this.#group);
    execFileSync("chmod", ["755", this.folder]);
    for (const [file, add] of Object.entries({ passwd: toUser, group: toGroup })) {
      const own = program.users.map(add).join("");
      writeFileSync(join(this.folder, file), readFileSync(`/etc/${file}`, "utf8") + own);
    }
  }

  /** Ids of its users, by their names. */
  get ids(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#program.users.map((name, i) => [name, FIRST_ID + i]));
  }

  /** Path of one of its files. */
  path(file: string): string {
    return join(this.#root, file);
  }

  /** Starts it on the first core. */
  run(file: string, args: readonly string[]): void {
    const libraries = `${join(this.#root, "usr/lib", `${process.arch === "x64" ? "x86_64" : "aarch64"}-linux-gnu`)}`;
    const command = [...onCore(0), "env", `LD_LIBRARY_PATH=${libraries}`, this.path(file), ...args];
    spawn("unshare", ["--mount", "sh", "-c", this.#script(), "sh", ...command], { stdio: "ignore" });
  }

  /** All of its processes. */
  pids(): number[] {
    return readFileSync(join(this.#group, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number);
  }

  /** Processor time that they have used, those that have ended among them, µs. */
  cpu(): number {
    const ns = join(this.#group, "cpuacct.usage");
    if (existsSync(ns)) return Number(readFileSync(ns, "utf8")) / 1000;
    return Number(/^usage_usec (\d+)$/m.exec(readFileSync(join(this.#group, "cpu.stat"), "utf8"))?.[1]);
  }

  /** Kills all of its processes at once. */
  async kill(): Promise<void> {
    for (let pids = this.pids(); pids.length > 0; pids = this.pids()) {
      for (const pid of pids) killProcess(pid);
      await sleep(1);
    }
  }

  async stop(): Promise<void> {
    await this.kill();
    rmdirSync(this.#group);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Shell script that makes its mounts and becomes the command. */
  #script(): string {
    const { folders } = this.#program;
    const covered = new Set(folders.map((path) => path.split("/").slice(0, 3).join("/")));
    const spool = join(this.folder, "spool");
    return [
      "set -e",
      `echo $$ > ${this.#group}/cgroup.procs`,
      ...["passwd", "group"].map((file) => `mount --bind ${this.folder}/${file} /etc/${file}`),
      `mkdir -m 711 -p ${spool}`,
      "cd /",
      ...[...covered].map((path) => `mount -t tmpfs tmpfs ${path}`),
      ...folders.map((path) => `mkdir -p ${path} && chmod 711 ${path}`),
      ...folders.filter((path) => path.startsWith("/var/spool/")).map((path) => `mount --bind ${spool} ${path}`),
      'exec "$@"',
    ].join("\n");
  }
}

const FIRST_ID = 64_100;

function toUser(name: string, i: number): string {
  return `${name}:x:${FIRST_ID + i}:${FIRST_ID + i}::/nonexistent:/usr/sbin/nologin\n`;
}

function toGroup(name: string, i: number): string {
  return `${name}:x:${FIRST_ID + i}:\n`;
}

function groupRoot(): string | undefined {
  return GROUPS.find((path) => existsSync(join(path, "cgroup.procs")));
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
