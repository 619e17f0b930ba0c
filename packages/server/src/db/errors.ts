/** The database refused a row because another one has its unique key. Features turn it into their own 409. */
export class UniqueViolation extends Error {
  override name = "UniqueViolation";
}

/**
 * The database cannot work at the moment (disk full, connection lost, shutting down) or cannot be opened. Nothing was stored.
 * The message says what to do.
 */
export class StorageUnavailable extends Error {
  override name = "StorageUnavailable";
  /** True when writing failed although reading may still work: the disk is full, or the database takes no writes. */
  readonly refusesWrites: boolean;
  /** True when it says nothing about what was asked: the database is away, full, or refuses its user. The same works once it is back. */
  readonly isAway: boolean;
  /** True when the file of the database is damaged. */
  readonly isDamaged: boolean;

  constructor(message: string, { refusesWrites = false, isAway = false, isDamaged = false } = {}) {
    super(message);
    this.refusesWrites = refusesWrites;
    this.isAway = isAway;
    this.isDamaged = isDamaged;
  }
}

/** A text contains a character that the database cannot store: NUL on Postgres. */
export class Unstorable extends Error {
  override name = "Unstorable";
}

/** A bug of ours: a query outside the open transaction, or after its end. */
export class MisplacedQuery extends Error {
  override name = "MisplacedQuery";
}

const UNIQUE = new Set(["SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_ROWID", "23505"]);
// Characters that are invalid in the encoding of the database, or have no counterpart in it.
const UNSTORABLE = new Set(["22021", "22P05"]);
// The disk is full (SQLite, Postgres), the database is read-only, or its user lacks a right.
const REFUSES_WRITES = /^(?:SQLITE_FULL|SQLITE_READONLY|SQLITE_IOERR|53100|25006|42501)/;
const DAMAGED = /^(?:SQLITE_CORRUPT|SQLITE_NOTADB)/;
// On Postgres: connection, login, a missing or closed database, resources, shutting down, the disk, a read-only standby, missing rights.
const AWAY =
  /^(?:SQLITE_(?:FULL|IOERR|CANTOPEN|READONLY)|08|53|57P|58|28|3D000|55000|25006|42501|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET)/;
// Limits of time, and transactions that conflicted more often than they were retried: others may succeed meanwhile.
const TOO_LONG = /^(?:SQLITE_(?:BUSY|LOCKED)|25P0|57014|55P03|40001|40P01)/;

// Faults that an operator can mend.
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^(?:SQLITE_FULL|53100)$/, "its disk is full"],
  [/^(?:SQLITE_READONLY|25006)/, "it is read-only"],
  [/^53300$/, "it has no connection left for mailsvc"],
  [/^42501$/, "its user lacks rights on tables of mailsvc, which it must own"],
  [/^28/, "it refuses its user"],
  [/^3D000$/, "it does not exist"],
  [/^57P0/, "its server starts, stops or has ended the connection"],
  [/^(?:ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET|EPIPE)/, "it cannot be reached"],
];

// Messages without a code by which the Postgres driver tells that a connection is lost or none is available.
const CONNECTION_LOST =
  /^(?:Connection terminated|Connection ended|timeout exceeded when trying to connect|timeout expired|Query read timeout|Cannot use a pool after|Client (?:was closed|has encountered a connection error))/;

// The codes of drivers: SQLite's names, Postgres' five characters.
const DRIVER = /^(?:SQLITE_[A-Z_]+|[0-9A-Z]{5})$/;

/**
 * The only place that translates a driver's errors into ours. Drivers and drizzle put the SQL and its parameters, which contain
 * addresses, into their messages, so only the code is kept.
 */
export function storageError(error: unknown): unknown {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = errorCode(inner);
  if (code === null)
    return inner instanceof Error && CONNECTION_LOST.test(inner.message)
      ? new StorageUnavailable("The database cannot work at the moment (connection lost).", { isAway: true })
      : error;
  if (UNIQUE.has(code)) return new UniqueViolation("A row with this unique key exists already.");
  if (UNSTORABLE.has(code)) return new Unstorable("A text contains a character that cannot be stored.");
  if (DAMAGED.test(code))
    return new StorageUnavailable(`The database file is damaged (${code}). Stop the server and restore a backup: mailsvc restore`);
  const isAway = AWAY.test(code);
  if (isAway || TOO_LONG.test(code)) return new StorageUnavailable(describe(code), { refusesWrites: REFUSES_WRITES.test(code), isAway });
  return DRIVER.test(code) ? new Error(`A query failed (${code}).`) : error;
}

function describe(code: string): string {
  const reason = REASONS.find(([codes]) => codes.test(code))?.[1];
  return `The database cannot work at the moment${reason === undefined ? "" : `: ${reason}`} (${code}).`;
}

/** The code of a driver's or the system's error; null when it has none. */
export function errorCode(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : null;
}
