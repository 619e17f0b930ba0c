/** One table of a copy. */
export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
  /** Checksum of all rows; the same on both sides. */
  readonly checksum: string;
}

export interface CopyReport {
  readonly from: string;
  readonly tables: readonly CopiedTable[];
  readonly rows: number;
  /** True when an interrupted copy was continued. */
  readonly resumed: boolean;
}

export interface CopyProgress {
  /** `copy` writes rows, `check` then reads all of them back and compares. */
  readonly phase: "copy" | "check";
  readonly table: string;
  readonly done: number;
  readonly total: number;
}

export interface CopyOptions {
  /** Folder of a SQLite installation that no server uses. */
  from: string;
  /** A Postgres database: an empty one, or one with an interrupted copy of the same installation. */
  to: string;
  /** False for a copy that nobody has decided about yet, such as a restored backup: no server starts on it until one is told to. */
  moves?: boolean;
  /** Called after each step. It may throw, which stops the copy between two steps; the copy can be continued later. */
  onProgress?: (progress: CopyProgress) => void;
}

/** Nothing was copied: there is nothing to copy, or the target is in use. The message says what to do. */
export class CopyRefused extends Error {
  override name = "CopyRefused";
}

/** The copy differs from its source. Do not use the target. */
export class CopyError extends Error {
  override name = "CopyError";
}
