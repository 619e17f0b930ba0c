import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { getConfigPath } from "../runtime/config-file.ts";
import type { Host } from "../types.ts";

/** A place in a stream: the number of an event of a workspace, or the id of an event of an agent. */
export type Position = number | string;

/** A place, and the ids of the last events before it or behind it that are done: a stream of ids may repeat them. */
export interface StoredPosition {
  readonly position: Position;
  readonly done: readonly string[];
}

/**
 * Position of `listen` in the stream of a workspace or an agent: its own file in a folder next to the config file, so that no other one
 * overwrites it.
 */
export class PositionFile {
  readonly #path: string;
  readonly #stream: string;
  #written: Position | null = null;

  constructor(host: Pick<Host, "env" | "platform" | "home">, stream: { url: string; workspaceId: string; agent?: string | undefined }) {
    this.#stream = [stream.url, stream.workspaceId, ...(stream.agent === undefined ? [] : [stream.agent])].join(" ");
    const name = createHash("sha256").update(this.#stream).digest("hex").slice(0, 32);
    this.#path = join(dirname(getConfigPath(host)), "listen", `${name}.json`);
  }

  /** The place of the last event that was forwarded; null if there was none. */
  read(): StoredPosition | null {
    try {
      const { position, done } = JSON.parse(readFileSync(this.#path, "utf8")) as { position?: unknown; done?: unknown };
      if (typeof position !== "number" && typeof position !== "string") return null;
      return { position, done: Array.isArray(done) ? done.filter((id) => typeof id === "string") : [] };
    } catch {
      return null;
    }
  }

  /** Never throws: without a stored position, --resume begins with the next event, and nothing is told to be missed. */
  write({ position, done }: { readonly position: Position | null; readonly done: readonly string[] }): void {
    if (position === this.#written || position === null) return;
    this.#written = position;
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      const temporary = `${this.#path}.${process.pid}`;
      writeFileSync(temporary, `${JSON.stringify({ stream: this.#stream, position, ...(typeof position === "string" && { done }) })}\n`, {
        mode: 0o600,
      });
      renameSync(temporary, this.#path);
    } catch {}
  }
}
