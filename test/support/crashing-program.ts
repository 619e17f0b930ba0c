import { readFileSync } from "node:fs";
import { ServerResponse } from "node:http";
import { flushCompileCache } from "node:module";
import { Socket } from "node:net";
import Database from "better-sqlite3";
import type { CrashPoint } from "./crashing-server.ts";

/*
 * The server, in a process that kills itself at a crash point: around the connection's COMMIT, at a
 * statement, before a request to a webhook, before an answer. The product is unchanged; only its drivers are wrapped.
 */

const at = process.argv.indexOf("--crash-point");
const [, file = ""] = process.argv.splice(at, 2);

let counted = "";
let times = 0;

/** The statements of the open transaction of each connection. */
const open = new WeakMap<object, string[]>();

type Call = (...params: unknown[]) => unknown;

watchSqlite();
if (process.argv.includes("--database-url")) await watchPostgres();
watchRequests();
watchAnswers();
await import("../../packages/server/src/main.ts");
// A process that is killed leaves no compiled code behind: so the first one stores it for the others.
setTimeout(flushCompileCache, 100).unref();

/** The current crash point: the latest one that the test wrote. */
function readCrashPoint(): { point: CrashPoint; text: string } | null {
  try {
    const text = readFileSync(file, "utf8");
    return { point: JSON.parse(text) as CrashPoint, text };
  } catch {
    return null;
  }
}

/** True if a step is the crash point, reached for the `nth` time. */
function isCrashPoint(step: CrashPoint["at"], texts: readonly string[]): boolean {
  const now = readCrashPoint();
  if (now === null || now.point.at !== step) return false;
  if (!now.point.having.every((part) => texts.some((text) => new RegExp(part).test(text)))) return false;
  if (counted !== now.text) times = 0;
  counted = now.text;
  times += 1;
  return times >= (now.point.nth ?? 1);
}

function dieAt(step: CrashPoint["at"], texts: readonly string[]): void {
  if (isCrashPoint(step, texts)) process.kill(process.pid, "SIGKILL");
}

function note(connection: object, sql: string): void {
  if (/^(?:begin|rollback$)/i.test(sql)) open.delete(connection);
  else open.set(connection, [...(open.get(connection) ?? []), sql]);
  dieAt("statement", [sql]);
}

function before(connection: object): boolean {
  const texts = open.get(connection) ?? [];
  dieAt("before commit", texts);
  return isCrashPoint("after commit", texts);
}

function after(connection: object, dies: boolean): void {
  open.delete(connection);
  if (dies) process.kill(process.pid, "SIGKILL");
}

function watchSqlite(): void {
  const { prepare } = Database.prototype;
  Database.prototype.prepare = function (this: Database.Database, sql: string) {
    const statement = prepare.call(this, sql);
    // The connection that reads is not asked.
    const watched = (call: Call): Call =>
      sql === "COMMIT"
        ? (...params) => {
            const dies = before(this);
            const result = call(...params);
            after(this, dies);
            return result;
          }
        : (...params) => {
            if (!statement.readonly || /^begin/i.test(sql)) note(this, sql);
            return call(...params);
          };
    const own = statement as unknown as Record<"run" | "all" | "get", Call>;
    for (const method of ["run", "all", "get"] as const) own[method] = watched(own[method].bind(statement));
    return statement;
  } as typeof prepare;
}

async function watchPostgres(): Promise<void> {
  const { default: pg } = await import("pg");
  const prototype = pg.Client.prototype as unknown as { query: (...params: unknown[]) => unknown };
  const { query } = prototype;
  prototype.query = function (this: object, ...params) {
    const [asked] = params as [string | { text?: string }];
    const sql = typeof asked === "string" ? asked : (asked.text ?? "");
    if (sql !== "COMMIT") {
      note(this, sql);
      return query.apply(this, params);
    }
    const dies = before(this);
    return (query.apply(this, params) as Promise<unknown>).then((result) => {
      after(this, dies);
      return result;
    });
  };
}

/** A request to a webhook is written in two parts, its head and its body, on a corked socket: nothing is sent before both are. */
function watchRequests(): void {
  const sockets = Socket.prototype as unknown as Record<"write", (...params: unknown[]) => unknown>;
  const { write } = sockets;
  const heads = new WeakMap<object, string>();
  sockets.write = function (this: Socket, ...params) {
    const [part] = params;
    if (typeof part === "string" && part.startsWith("POST /")) heads.set(this, part);
    else if (part instanceof Buffer && heads.has(this)) {
      dieAt("request", [`${heads.get(this)}${part}`]);
      heads.delete(this);
    }
    return write.apply(this, params);
  };
}

/** Answers leave by the runtime's HTTP server, or straight by the connection on which a plain request came. */
function watchAnswers(): void {
  const prototype = ServerResponse.prototype as unknown as { end: (...params: unknown[]) => unknown };
  const { end } = prototype;
  prototype.end = function (this: ServerResponse, ...params) {
    dieAt("answer", [`${this.req.method} ${this.req.url}`]);
    return end.apply(this, params);
  };
  const asked = new WeakMap<object, string>();
  const sockets = Socket.prototype as unknown as Record<"emit" | "write", (...params: unknown[]) => unknown>;
  const { emit, write } = sockets;
  sockets.emit = function (this: Socket, ...params) {
    const [event, bytes] = params;
    const line = event === "data" && bytes instanceof Buffer ? /^([A-Z]+ \/\S*) HTTP\//.exec(bytes.toString("latin1", 0, 500)) : null;
    if (line?.[1]) asked.set(this, line[1]);
    return emit.apply(this, params);
  };
  sockets.write = function (this: Socket, ...params) {
    const line = asked.get(this);
    if (line !== undefined && typeof params[0] === "string" && params[0].startsWith("HTTP/1.1 ")) dieAt("answer", [line]);
    return write.apply(this, params);
  };
}
