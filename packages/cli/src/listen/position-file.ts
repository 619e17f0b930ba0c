import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { getConfigPath } from "../runtime/config-file.ts";
import type { Host } from "../types.ts";

/** Where `listen` got to in the stream of a workspace: a file of its own in a folder next to the config file, so that no other one overwrites it. */
export class PositionFile {
  readonly #path: string;
  readonly #stream: string;
  #written = -1;

  constructor(host: Pick<Host, "env" | "platform" | "home">, stream: { url: string; workspaceId: string }) {
    this.#stream = `${stream.url} ${stream.workspaceId}`;
    const name = createHash("sha256").update(this.#stream).digest("hex").slice(0, 32);
    this.#path = join(dirname(getConfigPath(host)), "listen", `${name}.json`);
  }

  /** The sequence of the last event that was forwarded; null if there was none. */
  read(): number | null {
    try {
      const { position } = JSON.parse(readFileSync(this.#path, "utf8")) as { position?: unknown };
      return typeof position === "number" ? position : null;
    } catch {
      return null;
    }
  }

  /** Never throws: without a stored position, --resume begins with the next event, and nothing is told to be missed. */
  write(position: number): void {
    if (position === this.#written || position === 0) return;
    this.#written = position;
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      const temporary = `${this.#path}.${process.pid}`;
      writeFileSync(temporary, `${JSON.stringify({ stream: this.#stream, position })}\n`, { mode: 0o600 });
      renameSync(temporary, this.#path);
    } catch {}
  }
}
