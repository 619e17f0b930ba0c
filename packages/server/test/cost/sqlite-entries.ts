import type Database from "better-sqlite3";

type Connection = Database.Database;

/** A table or an index of one, as a row is looked up in it. */
interface Tree {
  /** Expressions over a row, whose change moves the entry; none when it never moves. */
  readonly keys: readonly string[];
  /** The condition of a partial index. */
  readonly where: { readonly text: string; readonly columns: readonly string[] } | null;
}

/**
 * Calls `note` for each row that this connection inserts, changes or deletes from now on, with the number of entries of the table and its
 * indexes that are written by it: an index whose key changes loses an entry and gets one. Search indexes are left out.
 */
export function watchEntries(connection: Connection, note: (entries: number, table: string) => void): Disposable {
  connection.function("note_entries", { directOnly: false, deterministic: false }, (table, entries) => {
    note(Number(entries), String(table));
    return null;
  });
  const triggers = listTables(connection).flatMap((table) => {
    const trees = listTrees(connection, table);
    return Object.entries({
      insert: trees.map((tree) => isIn(tree, "new")),
      delete: trees.map((tree) => isIn(tree, "old")),
      update: trees.map((tree) => moved(tree)),
    }).map(([event, entries]) => {
      const name = `entries_${table}_${event}`;
      const sum = ["1", ...entries].join(" + ");
      connection.exec(`create temp trigger "${name}" after ${event} on main."${table}" begin select note_entries('${table}', ${sum}); end`);
      return name;
    });
  });
  return {
    [Symbol.dispose]: () => {
      for (const name of triggers) connection.exec(`drop trigger temp."${name}"`);
    },
  };
}

function listTables(connection: Connection): string[] {
  const shadows = connection
    .prepare("select name from pragma_table_list where schema = 'main' and type = 'table'")
    .pluck()
    .all() as string[];
  return shadows.filter((name) => !name.startsWith("sqlite_"));
}

/** Lists the indexes of a table. An index made by a constraint has no SQL text. The key of a table without rowids is the table itself. */
function listTrees(connection: Connection, table: string): Tree[] {
  const indexes = connection.prepare("select name, origin from pragma_index_list(?)").all(table) as { name: string; origin: string }[];
  const columns = connection.prepare("select name from pragma_table_info(?)").pluck().all(table) as string[];
  const rowless = /without\s+rowid/i.test(textOf(connection, table) ?? "");
  return indexes
    .filter(({ origin }) => !(rowless && origin === "pk"))
    .map(({ name }) => {
      const text = textOf(connection, name);
      if (text === null)
        return { keys: connection.prepare("select name from pragma_index_info(?)").pluck().all(name) as string[], where: null };
      const [keys = "", where] = text.slice(text.indexOf("(")).split(/\bwhere\b/i);
      const named = new Set(keys.match(/\w+/g));
      return { keys: columns.filter((column) => named.has(column)), where: where === undefined ? null : { text: where, columns } };
    });
}

function textOf(connection: Connection, name: string): string | null {
  return connection.prepare("select sql from main.sqlite_master where name = ?").pluck().get(name) as string | null;
}

/** An expression that is 1 where the old or the new row is in the index. */
function isIn({ where }: Tree, row: "old" | "new"): string {
  if (where === null) return "1";
  const column = new RegExp(`(?:"\\w+"\\.)?"?\\b(${where.columns.join("|")})\\b"?(?=(?:[^']*'[^']*')*[^']*$)`, "g");
  return `(case when ${where.text.replaceAll(column, `${row}."$1"`)} then 1 else 0 end)`;
}

/** An expression that is the number of entries an update writes into the index. */
function moved(tree: Tree): string {
  const changes = tree.keys.map((column) => `old."${column}" is not new."${column}"`);
  const sum = `${isIn(tree, "old")} + ${isIn(tree, "new")}`;
  const conditions = [...changes, ...(tree.where === null ? [] : [`${isIn(tree, "old")} <> ${isIn(tree, "new")}`])];
  return `(case when ${conditions.join(" or ") || "0"} then ${sum} else 0 end)`;
}
