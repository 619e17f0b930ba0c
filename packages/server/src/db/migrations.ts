import { StorageUnavailable } from "./errors.ts";
import { listMigrations } from "./migration-files.ts";

/** Called with the names of all facts about the installation (`meta`) before existing tables are migrated. Throws to prevent it. */
export type CheckBefore = (facts: ReadonlySet<string>) => void;

/** Migration state of a database. */
export interface SchemaState {
  /** Creation time of its last migration, ms; null for an empty database. Migrations are identified by this time. */
  readonly migration: number | null;
  /** The version of mailsvc that migrated it last; null when it was not recorded. */
  readonly version: string | null;
}

/**
 * Compares a database with this build. Returns true when it has to be migrated. Throws StorageUnavailable when a newer mailsvc
 * has migrated it: this one would write rows the newer one does not expect.
 */
export function needsMigration(state: SchemaState, folder: string, version: string, database: string): boolean {
  const known = listMigrations(folder);
  const latest = known.at(-1) ?? 0;
  if (state.migration !== null && state.migration > latest) {
    const migrations = `migrations of ${day(state.migration)} and ${day(latest)}`;
    // Builds between two releases have the same version.
    if (state.version === version)
      throw new StorageUnavailable(
        `${database} was last used by a later build of mailsvc ${version} than this one (${migrations}). Start that build or a later one, or restore a backup that this build made.`,
      );
    throw new StorageUnavailable(
      `${database} was last used by mailsvc ${state.version ?? "of a later version"}, which is newer than this mailsvc ${version} ` +
        `(${migrations}). Start ${state.version ?? "the newer version"} or later, or restore a backup that ${version} made.`,
    );
  }
  // Between two releases the tables are made anew, and what an earlier build made cannot be brought further.
  if (state.migration !== null && !known.includes(state.migration))
    throw new StorageUnavailable(
      `${database} was made by another build of mailsvc ${state.version ?? "of an unknown version"}, before its release, whose tables this build cannot migrate ` +
        `(migrations of ${day(state.migration)} and ${day(latest)}). Start that build, or begin with new data. Nothing was changed.`,
    );
  return state.migration === null || state.migration < latest || state.version !== version;
}

/** True if a database has the tables of this build, whichever version made them. */
export function isUpToDate(state: SchemaState, folder: string): boolean {
  return state.migration === listMigrations(folder).at(-1);
}

function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
