/** Location of a database, which tells it apart from a copy somewhere else. */
export interface Place {
  /** Facts that the database keeps about it. */
  readonly stamp: Stamp;
  /** True if stored facts are about this place. */
  isSame(stored: Stamp): boolean;
  /** The move that took the data away from here, as the folder tells; null without one, and for a database without a folder. */
  readonly moved: Move | null;
  /** The number of starts of its database that the folder remembers; null for a database without a folder. */
  readonly starts: number | null;
  /** Remembers beside the database that it was started here, `starts` times by now, and forgets a move. */
  settle(starts: number): void;
}

export type Stamp = Readonly<Record<string, string | null>> & {
  /** For people: the folder and its machine, or the database and its server. */
  readonly name: string;
};

/** A move of an installation, as it is told to people. */
export interface Move {
  /** Time of the move (ISO 8601). */
  readonly at: string;
  readonly to: string;
}
