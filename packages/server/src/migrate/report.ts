/** One table of a move. */
export interface MovedTable {
  readonly table: string;
  readonly rows: number;
  /** Of all its rows, the same on both sides. */
  readonly checksum: string;
}

export interface MoveReport {
  readonly from: string;
  readonly tables: readonly MovedTable[];
  readonly rows: number;
  /** True when an earlier move was gone on with. */
  readonly resumed: boolean;
}

export interface MoveProgress {
  /** What goes on: rows are copied, then all of them are read back and compared. */
  readonly phase: "copy" | "check";
  readonly table: string;
  readonly done: number;
  readonly total: number;
}

export interface MoveOptions {
  /** Folder of a SQLite installation that no server uses. */
  from: string;
  /** A Postgres database: an empty one, or one into which this very move was begun. */
  to: string;
  /** Told after each step. It may throw, which stops the move between two steps; it can be gone on with. */
  onProgress?: (progress: MoveProgress) => void;
}

/** Nothing was moved: there is nothing to move, or the target is in use. The message says what to do. */
export class MoveRefused extends Error {
  override name = "MoveRefused";
}

/** What was copied is not what was there. The target is not to be used. */
export class MoveError extends Error {
  override name = "MoveError";
}
