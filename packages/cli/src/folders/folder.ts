import { isDeepStrictEqual } from "node:util";
import type { Fault, Session } from "../types.ts";
import { type BaseRecord, makeFingerprint } from "./base-record.ts";

/** An object on the server in the form of its files, and what is needed to change it. */
export interface Stored<F> {
  readonly id: string;
  readonly revision: number;
  /** True if changes are not released yet: a draft is not published, or an automation was never activated. */
  readonly isUnreleased: boolean;
  readonly files: F;
}

/** Kinds of changes that make the server match the folder. `release` and `remove` have other names for each noun. */
export type ChangeKind = "create" | "update" | "release" | "remove";

/** One change that makes the server match the folder. */
export interface Change<F, S extends Stored<F> = Stored<F>> {
  /** The slug or name. */
  readonly key: string;
  readonly kind: ChangeKind;
  /** Fields that differ. */
  readonly fields: readonly string[];
  readonly local: F | null;
  readonly stored: S | null;
  /** Reason it is refused without --force; null when nobody changed the object on the server. */
  readonly conflict: Conflict | null;
}

/** `changed`: the server has another state than this folder is based on. `unseen`: this folder never had the server's object. */
type Conflict = "changed" | "unseen";

/** The outcome of one change. */
export interface Outcome {
  readonly action: string;
  /** The id of what was stored on the server, also when a later step failed, such as its activation. */
  readonly id?: string;
  /** The version afterwards. */
  readonly version?: number | null;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    /** The command to try next. */
    readonly next?: string;
    readonly details: readonly { path: string; message: string; line?: number; column?: number }[];
  };
}

/** Kind of object that can be kept as files: templates, automations. */
export interface FolderNoun<F, S extends Stored<F> = Stored<F>> {
  /** The word after `mailsvc`, and the folder by default. */
  readonly noun: string;
  /** For messages: `Template`. */
  readonly label: string;
  /** Field that identifies an object in files and on the server. */
  readonly identity: "slug" | "name";
  readonly words: {
    /** The flag of `push`, its help, and the words of its changes and outcomes. */
    readonly release: { readonly flag: string; readonly about: string; readonly verb: string; readonly done: string };
    readonly remove: { readonly about: string; readonly verb: string; readonly done: string };
  };
  /** Layout of an object's files: shown when a folder has none. */
  readonly shape: string;
  /** Further examples and remarks in the help of `push`. */
  readonly pushHelp: string;
  /** Parses an argument that selects one. Throws CliError. */
  parseKey(argument: string): string;
  open(session: Session): FolderAccess<F, S>;
}

/** The files of a noun, and what the server has of it. */
export interface FolderAccess<F, S extends Stored<F> = Stored<F>> {
  /**
   * Reads a folder, which may be absent. Objects whose files have faults are left out and added to `faulty`, by their keys, or by their files
   * where these cannot be read; without it, throws CliError that names each faulty file.
   */
  readFolder(dir: string, faulty?: Map<string, Fault[]>): Promise<Map<string, F>>;
  /** Writes one, in place of the one the folder has of it. */
  write(dir: string, files: F, before: F | undefined): void;
  remove(dir: string, files: F): void;
  /** Reads the server's objects: all, or the ones in `only`. */
  readStored(only: readonly string[]): Promise<Map<string, S>>;
  /** The fields that files and server have in common. */
  readonly fields: readonly (keyof F & string)[];
  /** The keys in the order to push them. */
  sort(all: ReadonlyMap<string, F>): string[];
  /** Describes the removal of objects from the server, for the question to the person. */
  describeRemoval(removed: readonly S[]): { readonly target: string; readonly effect?: string };
  /** Applies one change. A refused one is an outcome; errors that concern all, such as a missing key, are thrown. */
  apply(change: Change<F, S>, release: boolean): Promise<Outcome>;
}

interface PlanOptions {
  /** Remove from the server what is not in the folder. */
  readonly prune?: boolean;
  /** Release what is not released yet. */
  readonly release?: boolean;
  /** Overwrite what others changed on the server. */
  readonly force?: boolean;
}

/** The fields in which two objects differ. The order of keys means nothing: a database may change it. */
export function diffFields<F>({ fields }: { readonly fields: readonly (keyof F & string)[] }, a: F, b: F): string[] {
  return fields.filter((field) => !isDeepStrictEqual(a[field], b[field]));
}

/** Compares a folder with the server and returns the changes in the order to apply them. */
export function planChanges<F, S extends Stored<F>>(
  access: Pick<FolderAccess<F, S>, "fields" | "sort">,
  local: ReadonlyMap<string, F>,
  stored: ReadonlyMap<string, S>,
  bases: Pick<BaseRecord, "has" | "isCurrent">,
  { prune = false, release = false, force = false }: PlanOptions = {},
): Change<F, S>[] {
  const changes: Change<F, S>[] = [];
  const findConflict = ({ id, files }: S): Conflict | null => {
    if (force || bases.isCurrent(id, makeFingerprint(files, access.fields))) return null;
    return bases.has(id) ? "changed" : "unseen";
  };
  for (const key of access.sort(local)) {
    const mine = local.get(key) as F;
    const theirs = stored.get(key) ?? null;
    const fields = theirs ? diffFields(access, mine, theirs.files) : [];
    if (!theirs) changes.push({ key, kind: "create", fields: [], local: mine, stored: null, conflict: null });
    else if (fields.length > 0) changes.push({ key, kind: "update", fields, local: mine, stored: theirs, conflict: findConflict(theirs) });
    else if (release && theirs.isUnreleased) changes.push({ key, kind: "release", fields, local: mine, stored: theirs, conflict: null });
  }
  if (!prune) return changes;
  const gone = new Map([...stored].filter(([key]) => !local.has(key)).map(([key, theirs]) => [key, theirs.files]));
  // In reverse: the server refuses to delete layouts and partials while a template uses them.
  for (const key of access.sort(gone).reverse()) {
    const theirs = stored.get(key) ?? null;
    // --prune is for what this folder never had; what it had, and somebody changed since, is kept.
    const conflict = theirs && findConflict(theirs) === "changed" ? "changed" : null;
    changes.push({ key, kind: "remove", fields: [], local: null, stored: theirs, conflict });
  }
  return changes;
}
