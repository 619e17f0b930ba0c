import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Database from "better-sqlite3";

/** A delivery as it came to a builder's webhook. */
interface Came {
  readonly body: string;
  readonly signature: string | undefined;
  readonly event: { id: string; type: string; activationId: string; apiKey?: string };
}

export interface Hook {
  readonly url: string;
  readonly came: Came[];
  /** Answers a request; 200 at once by default. */
  answer: (response: ServerResponse, came: Came) => void;
  close(): void;
}

/** A builder's webhook on this machine, which keeps all that comes. */
export async function startHook(): Promise<Hook> {
  const hook: { came: Came[]; answer: Hook["answer"] } = { came: [], answer: (response) => void response.writeHead(200).end() };
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      const came = { body, signature: request.headers["x-service-signature"] as string | undefined, event: JSON.parse(body) };
      hook.came.push(came);
      hook.answer(response, came);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return Object.assign(hook, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
}

/**
 * Copies an activation, each copy for its own brand, into the database of a server that does not run: no endpoint makes
 * so many brands. Answers nothing; there are `n` more activations then.
 */
export function copyActivation(file: string, pattern: string, n: number): void {
  const db = new Database(file);
  const columns = (db.pragma("table_info(activations)") as { name: string }[]).map(({ name }) => name);
  const changed: Record<string, string> = {
    id: "substr(id, 1, 24) || printf('%06d', n)",
    workspace_id: "'ws_' || printf('%026d', n)",
    key_hash: "'hash-' || n",
  };
  const numbers = `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${n})`;
  const picked = columns.map((name) => changed[name] ?? `"${name}"`).join(", ");
  const named = columns.map((name) => `"${name}"`).join(", ");
  db.exec(
    `${numbers} INSERT INTO workspaces (id, name, replies, created_at) SELECT ${changed.workspace_id}, 'brand', false, 0 FROM numbers`,
  );
  db.prepare(`INSERT INTO activations (${named}) ${numbers} SELECT ${picked} FROM activations, numbers WHERE id = ?`).run(pattern);
  db.close();
}

/**
 * Copies the newest run of each activation in the database of a server that does not run: `n` more for each, started and last
 * heard of at an instant (ms) of the copy's own.
 */
export function copyRuns(file: string, n: number, heardAt: (copy: number) => number, windowMs: number): void {
  const db = new Database(file);
  db.function("heard_at", { deterministic: true }, (copy) => heardAt(Number(copy)));
  const columns = (db.pragma("table_info(runs)") as { name: string }[]).map(({ name }) => name);
  const changed: Record<string, string> = {
    id: "printf('run_%013d%013d', a.rowid, n)",
    activation_id: "a.id",
    workspace_id: "a.workspace_id",
    run_id: "'copied-' || n",
    started_at: "heard_at(n)",
    last_heartbeat_at: "heard_at(n)",
    deadline_at: `heard_at(n) + ${windowMs}`,
  };
  const picked = columns.map((name) => changed[name] ?? `r."${name}"`).join(", ");
  const named = columns.map((name) => `"${name}"`).join(", ");
  db.exec(
    `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${n})
     INSERT INTO runs (${named}) SELECT ${picked} FROM activations a, numbers, (SELECT * FROM runs LIMIT 1) r`,
  );
  db.close();
}
