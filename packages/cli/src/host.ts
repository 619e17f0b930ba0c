import type { Readable, Writable } from "node:stream";

/** A stream that may be a terminal. */
export type In = Readable & { isTTY?: boolean };
export type Out = Writable & { isTTY?: boolean; columns?: number };

/**
 * Everything the program takes from the machine it runs on. The entry fills it from `process`; tests fill it by hand.
 * Nothing else in this package reads `process`, the clock or the network by itself.
 */
export interface Host {
  /** Arguments after the program's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: In;
  readonly stdout: Out;
  readonly stderr: Out;
  readonly platform: NodeJS.Platform;
  readonly nodeVersion: string;
  readonly home: string;
  readonly cwd: string;
  /** Version of this package. */
  readonly version: string;
  /** Milliseconds since 1970. */
  now(): number;
  /** Waits `ms` of real time; ends early, without an error, when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `fire` on SIGINT and SIGTERM; the answer stops listening. */
  onSignal(fire: (signal: "SIGINT" | "SIGTERM") => void): () => void;
  readonly fetch?: typeof globalThis.fetch;
}

/** Both ends of a conversation with a person: someone types, and someone reads stderr. */
export function isInteractive(host: Host): boolean {
  return host.stdin.isTTY === true && host.stderr.isTTY === true && !host.env["CI"] && host.env["TERM"] !== "dumb";
}
