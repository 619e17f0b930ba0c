import pg from "pg";
import { type Meter, namesQueue } from "./cost.ts";

type Query = (this: pg.Client, ...args: unknown[]) => unknown;

/** Counts what reaches Postgres by every connection. The server must have no other work, since its log is that of all databases. */
export function meterPostgres(url: string): Meter & Disposable {
  const counted = { statements: 0, commits: 0 };
  /** Open transactions, with whether they changed rows. */
  const open = new Map<pg.Client, boolean>();
  const clients = new Set<pg.Client>();
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const original = prototype.query;
  // Answers come in the order of their queries.
  const note = (client: pg.Client, text: string, rows: number): void => {
    if (/^\s*begin/i.test(text)) return void open.set(client, false);
    if (/^\s*(?:commit|rollback)/i.test(text)) {
      if (open.get(client)) counted.commits += 1;
      return void open.delete(client);
    }
    if (rows > 0 || !namesQueue(text)) counted.statements += 1;
    if (rows === 0 || /^\s*select/i.test(text)) return;
    if (open.has(client)) open.set(client, true);
    else counted.commits += 1;
  };
  prototype.query = function (...args) {
    const [first] = args;
    clients.add(this);
    const answer = original.apply(this, args);
    const text = typeof first === "string" ? first : ((first as { text?: string }).text ?? "");
    if (answer instanceof Promise)
      answer.then(
        (result: pg.QueryResult) => note(this, text, result.rowCount ?? 0),
        () => undefined,
      );
    return answer;
  };
  return {
    measure: async (work) => {
      await collectStatistics(url, original);
      const before = await read(url, clients, original);
      Object.assign(counted, { statements: 0, commits: 0 });
      await work();
      const { statements, commits } = counted;
      const after = await read(url, clients, original);
      return { statements, commits, rows: after.rows - before.rows, entries: null, bytes: after.position - before.position };
    },
    [Symbol.dispose]: () => {
      prototype.query = original;
    },
  };
}

/** Collects what is known of all tables, which a server would otherwise do and log while it is measured. */
async function collectStatistics(url: string, query: Query): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await (query.call(client, "analyze") as Promise<unknown>);
  await client.end();
}

/** The rows written so far, and the end of the log. Each connection reports its rows when it is asked to. */
async function read(url: string, clients: ReadonlySet<pg.Client>, query: Query): Promise<{ rows: number; position: number }> {
  for (const client of clients) await (query.call(client, "select pg_stat_force_next_flush()") as Promise<unknown>).catch(() => undefined);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const text = `select (select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) from pg_stat_user_tables) as rows,
    pg_current_wal_insert_lsn() - '0/0' as position`;
  const { rows } = (await query.call(client, text)) as pg.QueryResult<{ rows: string; position: string }>;
  await client.end();
  return { rows: Number(rows[0]?.rows), position: Number(rows[0]?.position) };
}
