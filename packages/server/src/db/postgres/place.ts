import { StorageUnavailable } from "../errors.ts";
import type { Place, Stamp } from "../place.ts";
import type { Raw } from "./pool.ts";

/**
 * The place of a Postgres database: the number of its cluster and its own. Renaming it and a failover to a standby change neither; a dump
 * that is restored elsewhere, a database made from a template and pg_upgrade do.
 */
export async function findDatabasePlace(raw: Raw, url: string): Promise<Place> {
  const [row] = await raw<{ database: string; name: string }>(
    "select oid::text as database, datname as name from pg_database where datname = current_database()",
  );
  const stamp: Stamp = {
    name: describeDatabase(url, row?.name),
    cluster: await readCluster(raw),
    database: row?.database ?? null,
  };
  return {
    stamp,
    isSame: ({ cluster, database }) => cluster === stamp["cluster"] && database === stamp["database"],
    moved: null,
    starts: null,
    settle: () => {},
  };
}

/** A database as people know it, without its password. */
export function describeDatabase(url: string, name?: string): string {
  const { host, pathname } = new URL(url);
  return `the database ${name ?? decodeURIComponent(pathname.slice(1))} of Postgres${host === "" ? "" : ` at ${host}`}`;
}

/** The number that initdb gave the cluster; null where it may not be read. */
async function readCluster(raw: Raw): Promise<string | null> {
  try {
    const [row] = await raw<{ cluster: string }>("select system_identifier::text as cluster from pg_control_system()");
    return row?.cluster ?? null;
  } catch (error) {
    if (error instanceof StorageUnavailable && error.message.includes("(42501)")) return null;
    throw error;
  }
}
