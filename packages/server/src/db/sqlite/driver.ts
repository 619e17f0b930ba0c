import { createRequire } from "node:module";

/**
 * JavaScript whose value is the driver, for its own thread. It must load the same file as this process does: two copies of
 * SQLite in one process would release each other's locks. The single binary, where no file can be required, replaces this module.
 */
export function driverExpression(): string {
  return `require(${JSON.stringify(createRequire(import.meta.url).resolve("better-sqlite3"))})`;
}
