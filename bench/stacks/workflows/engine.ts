import { Pool } from "undici";

/** Request that starts a workflow. */
export interface StartRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An engine that runs: programs that together take workflows and work on them. */
export interface RunningEngine {
  /** Port at which workflows are started. */
  readonly port: number;
  /** The request that starts a workflow; every answer of 2xx says that it has been kept. */
  request(n: number): StartRequest;
  /** Its processes, the database's among them. */
  pids(): readonly number[];
  /** Kills all of its processes at once. */
  kill(): Promise<void>;
  /** Starts it again on what it had kept, at the same port. */
  restart(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** Engine to compare. */
export interface Engine {
  readonly name: string;
  /** Moment at which the result of a step is on disk, in words, and the setting that says so. */
  readonly durability: string;
  /** Reason it cannot be run here; null when it can. */
  missing(): string | null;
  /** Starts it with nothing to do. Its steps are noted at `ledgerPort`. */
  start(ledgerPort: number): Promise<RunningEngine>;
}

/** Connections over which workflows are started; as many are under way at a time. */
export const AT_A_TIME = 50;

/** Opens the connections to an engine. */
export function openStarter({ port, request }: RunningEngine): { start(n: number): Promise<void>; close(): Promise<void> } {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: AT_A_TIME, headersTimeout: 30_000, bodyTimeout: 30_000 });
  return {
    start: async (n) => {
      const answer = await pool.request({ method: "POST", ...request(n) });
      await answer.body.dump();
      if (answer.statusCode < 200 || answer.statusCode > 299) throw new Error(`${answer.statusCode}`);
    },
    close: () => pool.destroy(),
  };
}
