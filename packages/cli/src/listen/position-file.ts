import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { getConfigPath } from "../runtime/config-file.ts";
import type { Host } from "../types.ts";

/** Where `listen` got to in the streams of workspaces, in a file next to the config file. */
export class PositionFile {
  readonly #path: string;
  readonly #stream: string;
  #written = -1;

  constructor(host: Pick<Host, "env" | "platform" | "home">, stream: { url: string; workspaceId: string }) {
    this.#path = join(dirname(getConfigPath(host)), "listen.json");
    this.#stream = `${stream.url} ${stream.workspaceId}`;
  }

  /** The sequence of the last event that was forwarded; null if there was none. */
  read(): number | null {
    const position = this.#readAll()[this.#stream];
    return typeof position === "number" ? position : null;
  }

  /** Never throws: without a stored position, --resume begins with the next event, and nothing is told to be missed. */
  write(position: number): void {
    if (position === this.#written || position === 0) return;
    this.#written = position;
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      const temporary = `${this.#path}.${process.pid}`;
      writeFileSync(temporary, `${JSON.stringify({ ...this.#readAll(), [this.#stream]: position }, null, 2)}\n`, { mode: 0o600 });
      renameSync(temporary, this.#path);
    } catch {}
  }

  #readAll(): Readonly<Record<string, unknown>> {
    try {
      return JSON.parse(readFileSync(this.#path, "utf8")) as Record<string, unknown>;
    } catch {
      return {};
    }
  }
}
