/** One table of a move. */
export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
  /** Of all its rows, the same on both sides. */
  readonly checksum: string;
}

export interface CopyReport {
  readonly from: string;
  readonly tables: readonly CopiedTable[];
  readonly rows: number;
  /** True when an earlier move was gone on with. */
  readonly resumed: boolean;
}

export interface CopyProgress {
  /** What goes on: rows are copied, then all of them are read back and compared. */
  readonly phase: "copy" | "check";
  readonly table: string;
  readonly done: number;
  readonly total: number;
}

export interface CopyOptions {
  /** Folder of a SQLite installation that no server uses. */
  from: string;
  /** A Postgres database: an empty one, or one into which this very move was begun. */
  to: string;
  /** Told after each step. It may throw, which stops the move between two steps; it can be gone on with. */
  onProgress?: (progress: CopyProgress) => void;
}

/** Nothing was moved: there is nothing to move, or the target is in use. The message says what to do. */
export class CopyRefused extends Error {
  override name = "CopyRefused";
}

/** What was copied is not what was there. The target is not to be used. */
export class CopyError extends Error {
  override name = "CopyError";
}
