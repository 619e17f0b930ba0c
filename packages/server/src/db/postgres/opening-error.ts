import { errorCode, StorageUnavailable, storageError } from "../errors.ts";

const UNREACHABLE = /^(?:ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET)/;

/** Why a database cannot be opened, in a sentence that says what to do. The password of the URL is not part of it. */
export function openingError(error: unknown, url: string): unknown {
  const { host, pathname, username } = new URL(url);
  const code = errorCode(error);
  const server = host === "" ? "Postgres" : `Postgres at ${host}`;
  if (code === "3D000")
    return new StorageUnavailable(`${server} has no database ${pathname.slice(1)} (${code}). Create it with createdb, or correct the URL.`);
  if (code === "28P01" || code === "28000")
    return new StorageUnavailable(`${server} refused the user ${username} (${code}). Check the user and password in the URL.`);
  if (code !== null && UNREACHABLE.test(code))
    return new StorageUnavailable(`${server} cannot be reached (${code}). Check that it is running, and the address in the URL.`);
  return storageError(error);
}
