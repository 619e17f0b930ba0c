/** One line per event: a message and fields. Never a key, an address or a body. */
export interface Log {
  info(message: string, facts?: Record<string, unknown>): void;
  warn(message: string, facts?: Record<string, unknown>): void;
  error(message: string, facts?: Record<string, unknown>): void;
}

/** Writes JSON lines with `write`. */
export function jsonLog(write: (line: string) => void, now: () => number): Log {
  const at =
    (level: string) =>
    (message: string, facts: Record<string, unknown> = {}): void =>
      write(`${JSON.stringify({ time: new Date(now()).toISOString(), level, message, ...facts })}\n`);
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** Logs nothing. */
export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
