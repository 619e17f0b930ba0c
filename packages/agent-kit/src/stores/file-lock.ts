import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { UsageError } from "../errors.ts";
import { randomToken } from "../runtime.ts";

/** The lock files of this process. */
const heldHere = new Set<string>();

/**
 * Creates a file that names this process, and returns how to give it back. A file of a process that no longer runs is replaced. Throws
 * UsageError while another process has it.
 */
export async function lockFile(path: string): Promise<() => Promise<void>> {
  if (heldHere.has(path)) throw inUse(path, process.pid);
  heldHere.add(path);
  const forget = (): boolean => heldHere.delete(path);
  try {
    const own = [process.pid, await findStart(process.pid), randomToken()].join(" ");
    while (!(await createWhole(path, own))) await removeStale(path);
  } catch (error) {
    forget();
    throw error;
  }
  return async () => {
    await rm(path, { force: true });
    forget();
  };
}

/** Removes the lock of a process that has ended. Throws UsageError for one that runs. */
async function removeStale(path: string): Promise<void> {
  const found = await readFile(path, "utf8").catch(ifMissing(null));
  if (found === null) return;
  const owner = await findOwner(found);
  if (owner !== null) throw inUse(path, owner);
  await takeAway(path, found);
}

function inUse(path: string, owner: number): UsageError {
  return new UsageError(`${path} belongs to the process ${owner}: a file store has one process.`);
}

/** Creates a file with its whole text in one step, so that no reader sees a part of it. False if the file exists already. */
async function createWhole(path: string, text: string): Promise<boolean> {
  const draft = `${path}.${randomToken()}`;
  await writeFile(draft, text, { mode: 0o600 });
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    const { code = "" } = error as { code?: string };
    if (code === "EEXIST") return false;
    if (!NO_LINKS.has(code)) throw error;
    return await createPlainly(path, text);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Error codes of file systems without hard links. */
const NO_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EISDIR"]);

async function createPlainly(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === "EEXIST") return false;
    throw error;
  }
}

/** The process that has the lock; null if it has ended. Its id may have been given to another one since, also by another boot. */
async function findOwner(text: string): Promise<number | null> {
  const [id, start = ""] = text.split(" ");
  const owner = Number(id);
  if (!Number.isInteger(owner) || owner <= 0) return null;
  // With the id of this process, which does not have it, the lock is left from an earlier one.
  if (owner === process.pid || !isRunning(owner)) return null;
  const { state, start: known } = await lookUp(owner);
  // A process that was killed, and whose parent has not asked for its end, as in containers without an init.
  if (state === "Z" || state === "X") return null;
  if (start === "") return owner;
  return known === "" || known === start ? owner : null;
}

/** Removes a lock whose owner has ended. One that another process has put in its place meanwhile is put back. */
async function takeAway(path: string, stale: string): Promise<void> {
  const aside = `${path}.${randomToken()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    return ifMissing(undefined)(error as { code?: string });
  }
  if ((await readFile(aside, "utf8")) === stale) await rm(aside, { force: true });
  else await rename(aside, path);
}

async function findStart(pid: number): Promise<string> {
  return (await lookUp(pid)).start;
}

/**
 * The state of a process, as a letter, and when it was started: the boot of the machine and the ticks since then, which Linux tells. Both are
 * empty where that is not known.
 */
async function lookUp(pid: number): Promise<{ state: string; start: string }> {
  if (process.platform !== "linux") return { state: "", start: "" };
  try {
    const [stat, boot] = await Promise.all([readFile(`/proc/${pid}/stat`, "utf8"), readFile("/proc/sys/kernel/random/boot_id", "utf8")]);
    // The program name is in parentheses and may contain spaces. The state follows it; the start time, in ticks, is the twentieth field.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", start: `${boot.trim()}:${fields[19] ?? ""}` };
  } catch {
    return { state: "", start: "" };
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === "EPERM";
  }
}

function ifMissing<T>(value: T): (error: { code?: string }) => T {
  return (error) => {
    if (error.code !== "ENOENT") throw error;
    return value;
  };
}
