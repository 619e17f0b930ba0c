import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { zstdDecompressSync } from "node:zlib";
import pg from "pg";

const FIXTURE = fileURLToPath(new URL("../fixtures/upgrades/0.1.0", import.meta.url));

/** Facts about the data of an earlier version. */
interface OldData {
  readonly apiKey: string;
  readonly emails: readonly { readonly id: string }[];
}

const { secretKey, sqlite, postgres } = JSON.parse(readFileSync(`${FIXTURE}.json`, "utf8")) as {
  readonly secretKey: string;
  readonly sqlite: OldData;
  readonly postgres: OldData;
};

/** Secret key (`--secret-key`) of the data. */
export const OLD_SECRET_KEY = secretKey;

/** Puts the data of an earlier version into a new data folder. */
export function unpackOnSqlite(data: string): OldData {
  mkdirSync(data, { recursive: true });
  writeFileSync(join(data, "mailsvc.db"), zstdDecompressSync(readFileSync(`${FIXTURE}.db.zst`)));
  return sqlite;
}

/** Puts the data of an earlier version into an empty database on Postgres. */
export async function unpackOnPostgres(url: string): Promise<OldData> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(zstdDecompressSync(readFileSync(`${FIXTURE}.sql.zst`)).toString());
  } finally {
    await client.end();
  }
  return postgres;
}
