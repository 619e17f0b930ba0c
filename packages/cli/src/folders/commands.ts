import { resolve } from "node:path";
import { Command, Option } from "commander";
import { confirmDestructive } from "../contract/execute.ts";
import { setOptionMetadata } from "../contract/metadata.ts";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { shellQuote } from "../runtime/request.ts";
import { safeText } from "../text/safe-text.ts";
import type { Fault, Session } from "../types.ts";
import { formatOutcomes, formatPlan, outcomesToJson, planToJson } from "../views/folders.ts";
import { BaseRecord, makeFingerprint } from "./base-record.ts";
import { type Change, diffFields, type FolderAccess, type FolderNoun, type Outcome, planChanges, type Stored } from "./folder.ts";

/** The commands of a noun that can be kept as files: push, pull and diff. */
export function folderCommands<F, S extends Stored<F>>(noun: FolderNoun<F, S>, run: Run): Command[] {
  return [pushCommand(noun, run), pullCommand(noun, run), diffCommand(noun, run)];
}

/** The flag that names another folder. */
export function dirOption({ noun }: Pick<FolderNoun<unknown>, "noun">): Option {
  return setOptionMetadata(new Option("--dir <folder>", `Folder of the ${noun}`).default(noun), { type: "file", default: noun });
}

/** The folder that a command works with. */
export function getDir({ host }: Session, { noun }: Pick<FolderNoun<unknown>, "noun">, flags: Flags): string {
  return resolve(host.cwd, String(flags["dir"] ?? noun));
}

/** The selected objects of a folder. Throws CliError when one is missing, or when there are none. */
async function readLocal<F, S extends Stored<F>>(
  noun: FolderNoun<F, S>,
  access: Pick<FolderAccess<F, S>, "readFolder">,
  dir: string,
  only: readonly string[],
  faulty: Map<string, Fault[]>,
): Promise<Map<string, F>> {
  const local = pick(await access.readFolder(dir, faulty), only);
  for (const key of faulty.keys()) if (only.length > 0 && !only.includes(key)) faulty.delete(key);
  const missing = only.filter((key) => !local.has(key) && !faulty.has(key));
  if (missing.length > 0) throw usageError(`${noun.label} ${safeText(missing.join(", "))} not found in ${dir}.`);
  if (local.size === 0 && faulty.size === 0)
    throw usageError(`No ${noun.noun} found in ${dir}. ${noun.shape}`, {
      hint: `Pull the server's ${noun.noun} first, or name another folder with --dir.`,
      next: `mailsvc ${noun.noun} pull`,
    });
  return local;
}

/** The objects that the arguments select; none for all. */
function parseKeys<F, S extends Stored<F>>(noun: FolderNoun<F, S>, args: readonly unknown[]): string[] {
  return ((args[0] as string[] | undefined) ?? []).map((argument) => noun.parseKey(argument));
}

function pick<T>(all: ReadonlyMap<string, T>, only: readonly string[]): Map<string, T> {
  return new Map([...all].filter(([key]) => only.length === 0 || only.includes(key)));
}

function pushCommand<F, S extends Stored<F>>(noun: FolderNoun<F, S>, run: Run): Command {
  const { release, remove } = noun.words;
  const command = new Command("push")
    .description(`Upload a folder of ${noun.noun} to the server`)
    .argument(`[${noun.identity}s...]`, `Only these ${noun.noun}; all of the folder by default`)
    .addOption(dirOption(noun))
    .option(`--${release.flag}`, release.about)
    .option("--prune", remove.about)
    .option("--force", "Overwrite what others changed on the server since this folder was pulled or pushed")
    .addHelpText("after", `\nExamples:\n${noun.pushHelp}\n\nExit code 11 when some ${noun.noun} could not be pushed.`);
  return runAction(command, run, "write", async (session, args, flags): Promise<Exit> => {
    const only = parseKeys(noun, args);
    const prune = flags["prune"] === true;
    if (prune && only.length > 0) throw usageError(`--prune compares the whole folder, so it takes no ${noun.identity}s.`);
    const access = noun.open(session);
    const dir = getDir(session, noun, flags);
    const faulty = new Map<string, Fault[]>();
    const local = await readLocal(noun, access, dir, only, faulty);
    const bases = BaseRecord.read(dir);
    const options = { prune, release: flags[release.flag] === true, force: flags["force"] === true };
    const stored = await access.readStored(only);
    const changes = leaveOutFaulty(planChanges(access, local, stored, bases, options), faulty);
    if (prune && faulty.size > 0) session.out.note(`Nothing is ${noun.words.remove.done}, because files are not valid.`);
    if (session.globals.dryRun) {
      await session.out.data(planToJson(noun, changes), () => formatPlan(noun, changes, session.term.out));
      session.out.note(session.term.err.dim("Nothing was changed."));
      return tellFaulty(session, noun, faulty) ?? EXIT.ok;
    }
    const removed = changes.flatMap(({ kind, stored, conflict }) => (kind === "remove" && stored && !conflict ? [stored] : []));
    if (removed.length > 0) {
      const { target, effect } = access.describeRemoval(removed);
      await confirmDestructive(session, `${noun.noun} push --prune`, `(${target})`, effect);
    }
    const outcomes: (Outcome & { key: string })[] = [...faulty].map(([key, details]) => ({
      key,
      action: "failed",
      error: { code: "invalid_file", message: FAULTY, details },
    }));
    const countFailed = (): number => outcomes.filter((outcome) => outcome.error !== undefined).length;
    const unchanged = local.size - changes.filter((change) => change.local !== null).length;
    const show = (): Promise<void> =>
      session.out.data({ data: outcomesToJson(noun, outcomes), unchanged, failed: countFailed() }, () =>
        formatOutcomes(outcomes, unchanged, session.term.out),
      );
    const progress = session.progress("Pushing");
    try {
      for (const change of changes) {
        progress.update(`Pushing ${safeText(change.key)}, ${outcomes.length - faulty.size} of ${changes.length}`);
        const outcome = change.conflict ? refuse(noun, change) : await access.apply(change, options.release);
        outcomes.push({ key: change.key, ...outcome });
        recordPushed(bases, access, change, outcome);
      }
    } catch (error) {
      progress.stop();
      // The templates pushed before the failure are told.
      if (outcomes.length > faulty.size) await show();
      throw error;
    } finally {
      progress.stop();
      for (const [key, { id, files }] of stored) {
        const mine = local.get(key);
        if (mine && diffFields(access, mine, files).length === 0) bases.set(id, makeFingerprint(files, access.fields));
      }
      bases.save();
    }
    await show();
    return countFailed() > 0 ? EXIT.partial : EXIT.ok;
  });
}

function pullCommand<F, S extends Stored<F>>(noun: FolderNoun<F, S>, run: Run): Command {
  const command = new Command("pull")
    .description(`Download the server's ${noun.noun} into a folder`)
    .argument(`[${noun.identity}s...]`, `Only these ${noun.noun}; all of the server by default`)
    .addOption(dirOption(noun))
    .option("--prune", `Remove ${noun.noun} from the folder that are not on the server`)
    .addHelpText("after", `\nExamples:\n  mailsvc ${noun.noun} pull\n  mailsvc ${noun.noun} pull welcome --dir ${noun.noun} --yes`);
  return runAction(command, run, "write", async (session, args, flags): Promise<Exit> => {
    const only = parseKeys(noun, args);
    const dir = getDir(session, noun, flags);
    const access = noun.open(session);
    const stored = await access.readStored(only);
    const missing = only.filter((key) => !stored.has(key));
    if (missing.length > 0)
      throw usageError(`${noun.label} ${safeText(missing.join(", "))} not found on the server.`, {
        code: "not_found",
        exit: EXIT.notFound,
      });
    const local = pick(await access.readFolder(dir), only);
    const written = [...stored].filter(([key, { files }]) => {
      const mine = local.get(key);
      return !mine || diffFields(access, mine, files).length > 0;
    });
    const over = written.filter(([key]) => local.has(key)).map(([key]) => key);
    const removed = flags["prune"] === true && only.length === 0 ? [...local.keys()].filter((key) => !stored.has(key)) : [];
    const answer = { dir, written: written.map(([key]) => key), removed, unchanged: stored.size - written.length };
    if (!session.globals.dryRun) {
      const lost = [...over, ...removed];
      if (lost.length > 0) await confirmDestructive(session, `${noun.noun} pull`, `(replaces ${safeText(lost.join(", "))} in ${dir})`);
      for (const [key, { files }] of written) access.write(dir, files, local.get(key));
      for (const key of removed) access.remove(dir, local.get(key) as F);
      const bases = BaseRecord.read(dir);
      for (const { id, files } of stored.values()) bases.set(id, makeFingerprint(files, access.fields));
      bases.save();
    }
    const { out } = session.term;
    await session.out.data(answer, () =>
      [
        ...answer.written.map((key) => `${out.green("wrote")} ${safeText(key)}`),
        ...removed.map((key) => `${out.red("removed")} ${safeText(key)}`),
        out.dim(`${answer.unchanged} unchanged, in ${dir}`),
      ].join("\n"),
    );
    if (session.globals.dryRun) session.out.note(session.term.err.dim("Nothing was written."));
    return EXIT.ok;
  });
}

function diffCommand<F, S extends Stored<F>>(noun: FolderNoun<F, S>, run: Run): Command {
  const command = new Command("diff")
    .summary(`Show how a folder differs from the server's ${noun.noun}`)
    .description(
      `Show how a folder differs from the server's ${noun.noun}: + lines are the folder's, - lines the server's.\n\nExit code 0 when they are the same, 1 when they differ.`,
    )
    .argument(`[${noun.identity}s...]`, `Only these ${noun.noun}; all by default`)
    .addOption(dirOption(noun));
  return runAction(command, run, "connect", async (session, args, flags): Promise<Exit> => {
    const only = parseKeys(noun, args);
    const access = noun.open(session);
    const dir = getDir(session, noun, flags);
    const faulty = new Map<string, Fault[]>();
    const local = pick(await access.readFolder(dir, faulty), only);
    const planned = planChanges(access, local, await access.readStored(only), BaseRecord.read(dir), { prune: true });
    const changes = leaveOutFaulty(planned, faulty);
    await session.out.data(planToJson(noun, changes), () => formatPlan(noun, changes, session.term.out, true));
    const failed = tellFaulty(session, noun, pick(faulty, only));
    if (failed !== null) return failed;
    if (changes.length === 0) session.out.note(session.term.err.dim("No differences."));
    return changes.length === 0 ? EXIT.ok : EXIT.differs;
  });
}

/** Returns the changes that need no file with faults. With faulty files, nothing is removed: an unreadable file may hold the object. */
function leaveOutFaulty<F, S extends Stored<F>>(changes: readonly Change<F, S>[], faulty: ReadonlyMap<string, Fault[]>): Change<F, S>[] {
  return changes.filter(({ key, kind }) => !faulty.has(key) && (kind !== "remove" || faulty.size === 0));
}

const FAULTY = "Its files are not valid.";

/** Explains on stderr which objects of a folder were left out. Returns exit code 11 when there are any. */
function tellFaulty(
  { out, globals }: Session,
  { noun }: Pick<FolderNoun<unknown>, "noun">,
  faulty: ReadonlyMap<string, Fault[]>,
): Exit | null {
  if (faulty.size === 0) return null;
  const message = `${faulty.size} of the ${noun} ${faulty.size === 1 ? "was" : "were"} left out, because files are not valid.`;
  out.fail({ code: "invalid_file", message, exit: EXIT.partial, details: [...faulty.values()].flat() }, globals.json);
  return EXIT.partial;
}

/** The outcome of a change that would overwrite another person's change. */
function refuse<F, S extends Stored<F>>({ noun }: FolderNoun<F, S>, { key, kind, conflict }: Change<F, S>): Outcome {
  const name = shellQuote(key);
  const next = kind === "remove" ? `mailsvc ${noun} pull ${name}` : `mailsvc ${noun} diff ${name}`;
  const what =
    conflict === "changed"
      ? "It was changed on the server since this folder was pulled."
      : "The server has another one, which this folder was never pulled from.";
  const message = `${what} Pull it and merge, or overwrite it with --force.`;
  return { action: "failed", error: { code: "conflict", message, next, details: [] } };
}

/** Records pushed objects as the new base of this folder. */
function recordPushed<F, S extends Stored<F>>(
  bases: BaseRecord,
  access: FolderAccess<F, S>,
  { kind, local, stored }: Change<F, S>,
  { id, error }: Outcome,
): void {
  if (local && id !== undefined) bases.set(id, makeFingerprint(local, access.fields));
  if (kind === "remove" && stored && !error) bases.delete(stored.id);
}
