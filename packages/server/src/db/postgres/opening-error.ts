import { errorCode, StorageUnavailable, storageError } from "../errors.ts";
import { CONNECTIONS } from "./pool.ts";

const UNREACHABLE = /^(?:ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET)/;

/** Explains why a database cannot be opened, in a sentence that says what to do and leaves out the password of the URL. */
export function openingError(error: unknown, url: string): unknown {
  const { host, pathname, username } = new URL(url);
  // drizzle wraps what the driver says.
  const code = errorCode(error instanceof Error && error.cause instanceof Error ? error.cause : error);
  const server = host === "" ? "Postgres" : `Postgres at ${host}`;
  const database = pathname.slice(1);
  if (code === "3D000")
    return new StorageUnavailable(`${server} has no database ${database} (${code}). Create it with createdb, or correct the URL.`);
  if (code === "28P01" || code === "28000")
    return new StorageUnavailable(`${server} refused the user ${username} (${code}). Check the user and password in the URL.`);
  if (code === "42501")
    return new StorageUnavailable(
      `The user ${username} may not create the tables of mailsvc (${code}). Make it the owner: alter database ${database} owner to ${username}`,
    );
  if (code === "3F000")
    return new StorageUnavailable(
      `The search_path of the user ${username} names no schema that exists (${code}). Create the schema, or correct the search_path.`,
    );
  if (code === "25006")
    return new StorageUnavailable(
      `${server} takes no writes (${code}). Give the URL of the primary server, or turn off default_transaction_read_only.`,
    );
  if (code === "53300")
    return new StorageUnavailable(
      `${server} has no connection left (${code}). Raise its max_connections, or lower --database-connections, which is ${CONNECTIONS} by default.`,
      { isAway: true },
    );
  if (code !== null && UNREACHABLE.test(code))
    // A name that does not exist is a mistake in the URL; all else passes.
    return new StorageUnavailable(`${server} cannot be reached (${code}). Check that it is running, and the address in the URL.`, {
      isAway: code !== "ENOTFOUND",
    });
  return storageError(error);
}
