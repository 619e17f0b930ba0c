/** The database refused a row because another one holds its unique key. Features turn it into their own 409. */
export class UniqueViolation extends Error {
  override name = "UniqueViolation";
}

/** The database cannot work at the moment: disk full, connection lost, shutting down. Nothing was stored. */
export class StorageUnavailable extends Error {
  override name = "StorageUnavailable";
}

/** A text holds what the database cannot keep: Postgres has no place for NUL. */
export class Unstorable extends Error {
  override name = "Unstorable";
}

/** A query was made where none may be: beside the open transaction, or after its end. A bug of ours, said clearly. */
export class MisplacedQuery extends Error {
  override name = "MisplacedQuery";
}

const UNIQUE = new Set(["SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_ROWID", "23505"]);
// Characters that are none in the encoding of the database, or have no counterpart in it.
const UNSTORABLE = new Set(["22021", "22P05"]);
// Of Postgres: connection, resources, shutting down, the disk, a standby that takes no writes, a statement or lock that
// took too long, and transactions that got in each other's way more often than they were tried again.
const UNAVAILABLE =
  /^(?:SQLITE_(?:FULL|IOERR|BUSY|LOCKED|CANTOPEN|READONLY)|08|53|57P|58|25006|57014|55P03|40001|40P01|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET)/;

// What the driver of Postgres says, without a code, when a connection is gone or none is to be had.
const GONE =
  /^(?:Connection terminated|Connection ended|timeout exceeded when trying to connect|timeout expired|Query read timeout|Cannot use a pool after|Client (?:was closed|has encountered a connection error))/;

// What drivers call their errors: SQLite's names, Postgres' five characters.
const DRIVER = /^(?:SQLITE_[A-Z_]+|[0-9A-Z]{5})$/;

/**
 * The one place where a driver's error becomes ours. Drivers and drizzle put the SQL and its parameters, so people's
 * addresses, into their messages: only the code goes on, the text never does.
 */
export function storageError(error: unknown): unknown {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (inner as { code?: unknown } | null)?.code;
  if (typeof code !== "string")
    return inner instanceof Error && GONE.test(inner.message)
      ? new StorageUnavailable("The database cannot work at the moment (connection lost).")
      : error;
  if (UNIQUE.has(code)) return new UniqueViolation("A row with this unique key exists already.");
  if (UNSTORABLE.has(code)) return new Unstorable("A text holds a character that cannot be stored.");
  if (UNAVAILABLE.test(code)) return new StorageUnavailable(`The database cannot work at the moment (${code}).`);
  return DRIVER.test(code) ? new Error(`A query failed (${code}).`) : error;
}
