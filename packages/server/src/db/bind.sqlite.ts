import { is, Param, Placeholder } from "drizzle-orm";

/** What this file knows of a drizzle statement prepared for SQLite. */
interface Prepared {
  readonly query: { readonly params: readonly unknown[] };
  readonly stmt: { run(...params: unknown[]): unknown };
  readonly fields?: unknown;
  readonly customResultMapper?: unknown;
  execute(values?: Record<string, unknown>): unknown;
}

type Binder = (values: Record<string, unknown>) => unknown;

const binderOf = (param: unknown): Binder => {
  if (is(param, Placeholder)) return (values) => values[param.name];
  if (is(param, Param) && is(param.value, Placeholder)) {
    const { name } = param.value;
    const { encoder } = param;
    return (values) => encoder.mapToDriverValue(values[name]);
  }
  return () => param;
};

const isWrite = (statement: unknown): statement is Prepared =>
  typeof statement === "object" &&
  statement !== null &&
  "stmt" in statement &&
  "query" in statement &&
  !(statement as Prepared).fields &&
  !(statement as Prepared).customResultMapper;

/**
 * Works out once where each value of a prepared write goes. Drizzle does so on every call, which is a quarter of what a
 * small insert costs: 2 µs of 8.
 */
export const bindOnce = <S>(statement: S): S => {
  if (!isWrite(statement)) return statement;
  const { stmt } = statement;
  const binders = statement.query.params.map(binderOf);
  const count = binders.length;
  statement.execute = (values = {}) => {
    const params = new Array<unknown>(count);
    for (let i = 0; i < count; i += 1) params[i] = (binders[i] as Binder)(values);
    return stmt.run(...params);
  };
  return statement;
};
