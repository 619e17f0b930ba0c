import pg from "pg";
import { startOfMonth } from "../../lib/month.ts";
import { errorCode } from "../errors.ts";
import type { Attempt, Kept, MonthKey, MonthlyTable, MonthlyTables, Months } from "../months.ts";
import { nameOf, quote, selectColumns, toArrayType, toElement } from "./arrays.ts";
import { applySettings, clientOptions, type Raw } from "./pool.ts";

/*
 * Tables by months (decision 17). A table that was never divided is an ordinary one. After that its parts are
 *
 *   | part              | keys                                       | becomes                                                     |
 *   | ----------------- | ------------------------------------------ | ----------------------------------------------------------- |
 *   | `…_rest`          | below all months                           | replaced when months are dropped; it has what was kept of them |
 *   | `…_until_2027_01` | of a month, or of all before the first one | dropped                                                     |
 *   | `…_open`          | after the last month that was made         | months, or one of them if rows came before these were made  |
 *   | `…_apart`         | of no month                                | –                                                           |
 *
 * `…_gone_…` is a part that was replaced and is no part any more: its files are deleted when nobody waits for it.
 *
 * All keys have a part at all times, so that no insert fails, whatever the clock of a server says.
 */

// Statements that come after ours wait as long as ours waits for the lock. Transactions take a few milliseconds.
const LOCK_MS = 100;
// Postgres says so when a lock is not given within lock_timeout, and when all of them are not within statement_timeout.
const NOT_GIVEN: ReadonlySet<unknown> = new Set(["55P03", "57014"]);
// Any number; it names the lock of the one process that changes parts.
const LOCK = 7_316_245_104;
// Months made ahead.
const AHEAD = 3;

interface Part {
  readonly name: string;
  /** Under which Postgres knows the table, whatever its name is. */
  readonly oid: string;
  /** Null for no bound. */
  readonly from: MonthKey | null;
  readonly to: MonthKey | null;
}

/** Divides tables and drops months. Changes have connections of their own, which wait without a limit for what takes long. */
export class PostgresMonths implements Months {
  readonly #url: string;
  readonly #raw: Raw;

  constructor(url: string, raw: Raw) {
    this.#url = url;
    this.#raw = raw;
  }

  async prepare(group: MonthlyTables, now: number): Promise<Attempt> {
    const parts = await listParts(this.#raw, nameOf(group.tables[0].table), group);
    const starts = listStarts(group, parts, now);
    if (parts.length > 0 && starts.length === 0) return "done";
    return this.#run(async (client) => {
      if (parts.length === 0) await divide(client, group, startOfMonth(now, 1));
      else await extend(client, group, starts);
    });
  }

  async advance(group: MonthlyTables, now: number): Promise<void> {
    const first = group.firstKey(now);
    const sequence = await findSequence(this.#raw, group);
    if (sequence === null || !(await this.#isBehind(group, first))) return;
    // By one process at a time: a second one that has found the counter behind would set it back to numbers that were given meanwhile.
    await this.#run((client) =>
      client.query(`select setval('${sequence}', ${literal(first)}) from ${sequence} where last_value < ${literal(first)}`),
    );
  }

  async findEnd(group: MonthlyTables, before: number): Promise<MonthKey | null> {
    const name = nameOf(group.tables[0].table);
    const old = (await listParts(this.#raw, name, group)).filter(({ to }) => to !== null && to <= group.firstKey(before));
    const end = old.some((part) => part.name !== `${name}_rest`) ? (old.at(-1)?.to ?? null) : null;
    return end === null || (await this.#isBehind(group, end)) ? null : end;
  }

  /** True if a counter still gives numbers below a key. */
  async #isBehind(group: MonthlyTables, key: MonthKey): Promise<boolean> {
    const sequence = await findSequence(this.#raw, group);
    if (sequence === null) return false;
    const [row] = await this.#raw<{ last: string | null }>("select pg_sequence_last_value($1::regclass) as last", [sequence]);
    return Number(row?.last ?? 0) < Number(key);
  }

  drop(group: MonthlyTables, end: MonthKey, kept: readonly Kept[]): Promise<Attempt> {
    return this.#run(async (client) => {
      await alone(client, group, async () => {
        for (const { table } of group.tables) {
          const parts = await listParts((text, values) => client.query(text, values).then(({ rows }) => rows), nameOf(table), group);
          const old = parts.filter((part) => part.to !== null && part.to <= end);
          await replace(client, nameOf(table), old, end, kept.find((one) => one.table === table) ?? { table, keys: [] });
        }
      });
      await dropGone(client, group);
    });
  }

  async clear(group: MonthlyTables): Promise<Attempt> {
    return (await listGone(this.#raw, group)).length === 0 ? "done" : this.#run((client) => dropGone(client, group));
  }

  async findUser({ tables }: MonthlyTables): Promise<string | null> {
    const [user] = await this.#raw<{ pid: number; program: string; state: string | null; since: Date | null }>(
      `with used as (select to_regclass(quote_ident(name)) as oid from unnest($1::text[]) as name)
       select a.pid, a.application_name as program, a.state, a.xact_start as since
       from pg_locks l join pg_stat_activity a on a.pid = l.pid
       where l.granted and a.pid <> pg_backend_pid()
         and (l.relation in (select oid from used) or l.relation in (select inhrelid from pg_inherits where inhparent in (select oid from used)))
       order by a.xact_start limit 1`,
      [tables.map(({ table }) => nameOf(table))],
    );
    if (!user) return null;
    const since = user.since === null ? "" : `, in a transaction since ${user.since.toISOString()}`;
    return `process ${user.pid} of Postgres${user.program === "" ? "" : ` (${user.program})`}${since}${user.state === null ? "" : `, ${user.state}`}`;
  }

  async #run(work: (client: pg.Client) => Promise<unknown>): Promise<Attempt> {
    const client = new pg.Client({ ...clientOptions(this.#url), query_timeout: 0 });
    client.on("error", () => {});
    await client.connect();
    try {
      await applySettings(client, { statement_timeout: "0", lock_timeout: String(LOCK_MS) });
      const { rows } = await client.query<{ first: boolean }>("select pg_try_advisory_lock($1) as first", [LOCK]);
      if (!rows[0]?.first) return "locked";
      await work(client);
      return "done";
    } catch (error) {
      if (NOT_GIVEN.has(errorCode(error))) return "locked";
      throw error;
    } finally {
      // The lock ends with the connection.
      await client.end();
    }
  }
}

/** Runs a transaction that nobody else can use the tables in. */
async function alone(client: pg.Client, group: MonthlyTables, work: () => Promise<void>): Promise<void> {
  await client.query("begin");
  try {
    // The time for one lock is bounded anyway; this bounds that for all tables and their parts.
    await client.query(`set local statement_timeout = ${LOCK_MS}`);
    await client.query(`lock table ${group.tables.map(({ table }) => quote(nameOf(table))).join(", ")} in access exclusive mode`);
    await client.query("set local statement_timeout = 0");
    await work();
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/** The parts of a table, in the order of their keys; none if it was never divided. */
async function listParts(raw: Raw, table: string, { counted }: MonthlyTables): Promise<Part[]> {
  const rows = await raw<{ name: string; oid: string; bounds: string }>(
    `select c.relname as name, c.oid::text as oid, pg_get_expr(c.relpartbound, c.oid) as bounds
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = to_regclass($1)`,
    [quote(table)],
  );
  const parse = (text: string): MonthKey | null => {
    const key = /^'(.*)'$/.exec(text)?.[1] ?? null;
    return key !== null && counted ? Number(key) : key;
  };
  const parts = rows.map(({ name, oid, bounds }): Part => {
    const [, from = "", to = ""] = /^FOR VALUES FROM \((.*)\) TO \((.*)\)$/.exec(bounds) ?? [];
    return { name, oid, from: parse(from), to: parse(to) };
  });
  return parts.sort((one, other) => (one.from === null || (other.from !== null && one.from < other.from) ? -1 : 1));
}

/** Makes an ordinary table the first part of a divided one; what is made from an instant (ms) on comes into other parts. */
async function divide(client: pg.Client, group: MonthlyTables, from: number): Promise<void> {
  const bound = group.firstKey(from);
  // Checks the keys of a counter first, while others use the table. With rows that are kept apart this would be in vain: they are moved,
  // and the keys are checked again.
  if (group.apart === null) for (const table of group.tables) await checkBelow(client, nameOf(table.table), table, bound);
  await alone(client, group, async () => {
    for (const table of group.tables) await divideTable(client, table, group, from);
  });
  for (const { table } of group.tables) await client.query(`analyze (skip_locked) ${quote(nameOf(table))}`);
}

async function divideTable(client: pg.Client, { table, key }: MonthlyTable, group: MonthlyTables, from: number): Promise<void> {
  const name = nameOf(table);
  const first = toPartName(name, from);
  const column = quote(key.name);
  const bound = literal(group.firstKey(from));
  const indexes = await listIndexes(client, name);
  const { rows: counters } = await client.query<{ sequence: string | null }>("select pg_get_serial_sequence($1, $2) as sequence", [
    quote(name),
    key.name,
  ]);
  // Under their names the whole table has indexes, as if it had never been divided: later migrations change those.
  for (const { index } of indexes) await client.query(`alter index ${quote(index)} rename to ${quote(`${index}_first`.slice(-63))}`);
  await client.query(`alter table ${quote(name)} rename to ${quote(first)}`);
  await client.query(
    `create table ${quote(name)} (like ${quote(first)} including defaults including storage) partition by range (${column})`,
  );
  for (const { index, key: columns, definition } of indexes)
    await client.query(
      columns === null ? definition : `alter table ${quote(name)} add constraint ${quote(index)} primary key (${columns})`,
    );
  const sequence = counters[0]?.sequence;
  if (sequence) await client.query(`alter sequence ${sequence} owned by ${quote(name)}.${column}`);
  if (group.apart !== null) {
    const apart = `${name}_apart`;
    await client.query(`create table ${quote(apart)} partition of ${quote(name)} for values from (${literal(group.apart)}) to (maxvalue)`);
    await client.query(
      `with moved as (delete from ${quote(first)} where ${column} >= ${literal(group.apart)} returning *)
       insert into ${quote(apart)} select * from moved`,
    );
  }
  await client.query(`alter table ${quote(name)} attach partition ${quote(first)} for values from (minvalue) to (${bound})`);
  await client.query(`alter table ${quote(first)} drop constraint if exists mailsvc_months`);
  await createOpen(client, name, group, group.firstKey(from));
}

interface Index {
  readonly index: string;
  /** The columns of a primary key; null for another index. */
  readonly key: string | null;
  readonly definition: string;
}

async function listIndexes(client: pg.Client, table: string): Promise<Index[]> {
  const { rows } = await client.query<Index>(
    `select c.relname as index, pg_get_indexdef(i.indexrelid) as definition,
       case when i.indisprimary then (select string_agg(quote_ident(a.attname), ', ' order by k.n)
         from unnest(i.indkey) with ordinality as k (attnum, n) join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum) end as key
     from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = to_regclass($1)`,
    [quote(table)],
  );
  return rows;
}

/** Starts (ms) of the months to split off the open part; none if there are enough. */
function listStarts(group: MonthlyTables, parts: readonly Part[], now: number): number[] {
  const lower = parts.find(({ name }) => name === `${nameOf(group.tables[0].table)}_open`)?.from ?? null;
  if (lower === null) return [];
  return Array.from({ length: AHEAD }, (_, i) => startOfMonth(now, i + 1)).filter((ms) => group.firstKey(ms) > lower);
}

/** Makes parts for the months to come out of the open one. */
async function extend(client: pg.Client, group: MonthlyTables, starts: readonly number[]): Promise<void> {
  const [next] = starts;
  if (next === undefined) return;
  const bound = group.firstKey(next);
  for (const { table, key } of group.tables) {
    const open = `${nameOf(table)}_open`;
    const { rows } = await client.query(`select 1 from ${quote(open)} where ${quote(key.name)} >= ${literal(bound)} limit 1`);
    // The clock went back. The part stays open until it has caught up.
    if (rows.length > 0) return;
    await checkBelow(client, open, { table, key }, bound);
  }
  await alone(client, group, async () => {
    for (const { table } of group.tables) {
      const name = nameOf(table);
      const first = toPartName(name, next);
      const parts = await listParts((text, values) => client.query(text, values).then(({ rows }) => rows), name, group);
      const lower = parts.find((part) => part.name === `${name}_open`)?.from as MonthKey;
      await client.query(`alter table ${quote(name)} detach partition ${quote(`${name}_open`)}`);
      await client.query(`alter table ${quote(`${name}_open`)} rename to ${quote(first)}`);
      await client.query(
        `alter table ${quote(name)} attach partition ${quote(first)} for values from (${literal(lower)}) to (${literal(bound)})`,
      );
      await client.query(`alter table ${quote(first)} drop constraint mailsvc_months`);
      for (const [i, start] of starts.slice(1).entries())
        await client.query(
          `create table ${quote(toPartName(name, start))} partition of ${quote(name)}
           for values from (${literal(group.firstKey(starts[i] as number))}) to (${literal(group.firstKey(start))})`,
        );
      await createOpen(client, name, group, group.firstKey(starts.at(-1) as number));
    }
  });
  for (const { table } of group.tables) await client.query(`analyze (skip_locked) ${quote(nameOf(table))}`);
}

function createOpen(client: pg.Client, name: string, { apart }: MonthlyTables, from: MonthKey): Promise<unknown> {
  const to = apart === null ? "maxvalue" : literal(apart);
  return client.query(`create table ${quote(`${name}_open`)} partition of ${quote(name)} for values from (${literal(from)}) to (${to})`);
}

/** Shows the database that all keys are below a bound, while others use the table, so that it need not look when nobody can. */
async function checkBelow(client: pg.Client, name: string, { key }: MonthlyTable, bound: MonthKey): Promise<void> {
  await client.query(`alter table ${quote(name)} drop constraint if exists mailsvc_months`);
  await client.query(`alter table ${quote(name)} add constraint mailsvc_months check (${quote(key.name)} < ${literal(bound)}) not valid`);
  await client.query(`alter table ${quote(name)} validate constraint mailsvc_months`);
}

/** Replaces parts by one that has only what is kept of them, and leaves them for `dropGone`. */
async function replace(client: pg.Client, name: string, old: readonly Part[], to: MonthKey, { table, keys }: Kept): Promise<void> {
  const rest = `${name}_rest`;
  const next = `${name}_next`;
  await client.query(`create table ${quote(next)} (like ${quote(name)} including defaults including storage including indexes)`);
  const [first] = keys;
  if (first)
    for (const part of old) {
      const columns = selectColumns(table, first);
      const same = columns.map(({ column }, i) => `p.${quote(column.name)} = v.c${i}`).join(" and ");
      await client.query(
        `insert into ${quote(next)} select p.* from unnest(${columns.map((column, i) => `$${i + 1}::${toArrayType(column)}`).join(", ")})
           as v (${columns.map((_, i) => `c${i}`).join(", ")}) join ${quote(part.name)} p on ${same} on conflict do nothing`,
        columns.map((column) => keys.map((row) => toElement(row, column))),
      );
    }
  for (const part of old) {
    await client.query(`alter table ${quote(name)} detach partition ${quote(part.name)}`);
    await client.query(`alter table ${quote(part.name)} rename to ${quote(`${name}_gone_${part.oid}`)}`);
  }
  await client.query(`alter table ${quote(next)} rename to ${quote(rest)}`);
  await client.query(`alter table ${quote(name)} attach partition ${quote(rest)} for values from (minvalue) to (${literal(to)})`);
}

/** Drops what `replace` left. To delete the files of large tables takes time, so it is done when nobody waits for these. */
async function dropGone(client: pg.Client, group: MonthlyTables): Promise<void> {
  const gone = await listGone((text, values) => client.query(text, values).then(({ rows }) => rows), group);
  for (const name of gone) await client.query(`drop table ${quote(name)}`);
}

async function listGone(raw: Raw, { tables }: MonthlyTables): Promise<string[]> {
  const rows = await raw<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind = 'r' and not relispartition and relname ~ $1`,
    [`^(${tables.map(({ table }) => nameOf(table)).join("|")})_gone_[0-9]+$`],
  );
  return rows.map(({ name }) => name);
}

/** The sequence of the counter that a group is divided by; null if it is not divided by one. */
async function findSequence(raw: Raw, { tables: [{ table, key }], counted }: MonthlyTables): Promise<string | null> {
  if (!counted) return null;
  const [row] = await raw<{ sequence: string | null }>("select pg_get_serial_sequence($1, $2) as sequence", [
    quote(nameOf(table)),
    key.name,
  ]);
  return row?.sequence ?? null;
}

/** The name of the part whose rows were made before an instant (ms). */
function toPartName(table: string, ms: number): string {
  return `${table}_until_${new Date(ms).toISOString().slice(0, 7).replace("-", "_")}`;
}

/** A key as it stands in a statement that takes no parameters. Ids and numbers need no escapes. */
function literal(key: MonthKey): string {
  return typeof key === "number" ? String(key) : `'${key}'`;
}
