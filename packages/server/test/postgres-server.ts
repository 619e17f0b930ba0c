import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../../test/support/free-port.ts";
import { binary, getPostgresBinaries, type PostgresBinaries } from "./postgres-binaries.ts";
import { quickFolder } from "./quick-folder.ts";

/** Our own Postgres server. */
export interface PostgresServer {
  /** Its maintenance database; other databases are made next to it. */
  readonly url: string;
  readonly from: string;
  readonly pid: number;
  /** Stops it at once, as `pg_ctl stop -m fast` does: transactions are rolled back, connections cut. */
  stop(): Promise<void>;
  /** Starts it again on the same data and port. */
  start(): Promise<void>;
  /** Stops it and removes its data. */
  dispose(): Promise<void>;
}

interface PostgresServerOptions {
  /** True where the data must outlive a kill of the database; without it commits do not wait for the disk. */
  durable?: boolean;
}

// Deadlocks are looked for after a wait of 20 ms for a lock, instead of a second.
const QUICK = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "deadlock_timeout=20ms"];

/** Makes a database cluster in a temporary folder and starts a server on it, on a free port of loopback: about 1.5 s. */
export async function startPostgres({ durable = false }: PostgresServerOptions = {}): Promise<PostgresServer> {
  const user = runAs();
  const copy = mkdtempSync(join(tmpdir(), "mailsvc-pg-programs-"));
  chmodSync(copy, 0o755);
  const binaries = runnable(getPostgresBinaries(), user, copy);
  removeLeftovers(quickFolder());
  // Databases are made by the hundred, each of a thousand files: in memory that is ten times as fast.
  const folder = mkdtempSync(join(durable ? tmpdir() : quickFolder(), "mailsvc-pg-"));
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  if (user.uid !== undefined && user.gid !== undefined) for (const path of [folder, data]) chownSync(path, user.uid, user.gid);
  const env = { ...process.env, LC_ALL: "C" };
  const initdb = ["-D", data, "-U", "mailsvc", "--auth=trust", "--encoding=UTF8", "--no-locale", ...(durable ? [] : ["--no-sync"])];
  await promisify(execFile)(binary(binaries, "initdb"), initdb, { ...user, env, cwd: folder });

  const port = await freePort();
  const settings = [
    "listen_addresses=127.0.0.1",
    `unix_socket_directories=${process.platform === "win32" ? "" : folder}`,
    "max_connections=200",
    "shared_buffers=128MB",
    ...(durable ? [] : QUICK),
  ];
  const args = ["-D", data, "-p", String(port), ...settings.flatMap((s) => ["-c", s])];
  let child: ChildProcess | null = null;

  const start = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const started = spawn(binary(binaries, "postgres"), args, { ...user, env, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
      child = started;
      let said = "";
      started.stderr?.on("data", (chunk: Buffer) => {
        said = (said + chunk.toString()).slice(-4000);
        if (said.includes("database system is ready to accept connections")) resolve();
      });
      started.once("error", reject);
      started.once("exit", (code) => reject(new Error(`Postgres did not start (exit code ${code}):\n${said}`)));
    });
  const stop = async (): Promise<void> => {
    const running = child;
    child = null;
    if (!running || running.exitCode !== null) return;
    const gone = new Promise((done) => running.once("exit", done));
    // Fast shutdown; on Windows there are no signals, so it is killed and recovers at the next start.
    running.kill(process.platform === "win32" ? "SIGKILL" : "SIGINT");
    await gone;
  };
  // Whatever happens to the process that started it, the server does not stay behind.
  const abandon = (): void => void child?.kill("SIGQUIT");
  process.once("exit", abandon);
  const dispose = async (): Promise<void> => {
    process.removeListener("exit", abandon);
    await stop();
    for (const path of [folder, copy]) rmSync(path, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    url: `postgres://mailsvc@127.0.0.1:${port}/postgres`,
    from: binaries.from,
    get pid() {
      return child?.pid ?? 0;
    },
    start,
    stop,
    dispose,
  };
}

// Longer than a run of all tests.
const LEFT_AFTER_MS = 3 * 3_600_000;

/** Removes the data of servers whose test run was killed: in memory, a few of them fill a machine. */
function removeLeftovers(parent: string): void {
  for (const folder of globSync(join(parent, "mailsvc-pg-??????")))
    try {
      if (Date.now() - statSync(folder).mtimeMs > LEFT_AFTER_MS && !isRunning(join(folder, "data/postmaster.pid")))
        rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another run has removed it.
    }
}

/** True while the process runs whose id is the first line of a file. */
function isRunning(pidFile: string): boolean {
  try {
    process.kill(Number(readFileSync(pidFile, "utf8").split("\n")[0]), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Postgres refuses to run as root, so root lends it another user's name: `postgres`, or `nobody`. */
function runAs(): { uid?: number; gid?: number } {
  if (process.platform === "win32" || userInfo().uid !== 0) return {};
  for (const name of ["postgres", "nobody"]) {
    try {
      const id = (flag: string): number => Number(execFileSync("id", [flag, name], { stdio: "pipe" }).toString());
      return { uid: id("-u"), gid: id("-g") };
    } catch {
      // There is no such user here.
    }
  }
  throw new Error("Postgres does not run as root, and this machine has neither a user postgres nor nobody to run it as.");
}

/**
 * Programs which the lent user can run. A checkout in root's home is closed to everybody else: then they are copied
 * next to the data.
 */
function runnable(binaries: PostgresBinaries, user: { uid?: number; gid?: number }, copyTo: string): PostgresBinaries {
  try {
    execFileSync(binary(binaries, "initdb"), ["--version"], { ...user, stdio: "pipe", cwd: tmpdir() });
    return binaries;
  } catch {
    cpSync(join(binaries.folder, ".."), copyTo, { recursive: true, verbatimSymlinks: true });
    return { ...binaries, folder: join(copyTo, "bin") };
  }
}
