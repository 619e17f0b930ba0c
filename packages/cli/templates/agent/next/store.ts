import type { Store } from "@mailsvc/agent-kit";
import { postgresStore } from "@mailsvc/agent-kit/stores/postgres";
import { Pool } from "pg";

/** The store that all instances share: keys, events and results of steps are in the database of DATABASE_URL. */
export function openStore(): Store {
  const connectionString = process.env["DATABASE_URL"];
  if (!connectionString) throw new Error("Set DATABASE_URL: keys and events are stored in this Postgres database.");
  const pool = new Pool({ connectionString, max: 2 });
  // A lost connection that no query uses: the next query opens another one. Without a listener it would end the process.
  pool.on("error", (error) => console.error(error.message));
  return postgresStore(pool);
}
