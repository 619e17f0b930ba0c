import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { usageError } from "../runtime/errors.ts";
import { isRecord } from "../text/generic.ts";
import { assertNoLinks } from "./files.ts";

/** The file of a folder that says on which state of the server its files are based. */
const RECORD_FILE = ".mailsvc-base";

/**
 * State of the server when this folder was last pulled from it or pushed to it: one fingerprint for each object, by its id, which is
 * unique in all workspaces. A push compares it with the server's present state, and so finds the changes of others.
 */
export class BaseRecord {
  readonly #dir: string;
  readonly #fingerprints: Map<string, string>;
  #changed = false;

  private constructor(dir: string, fingerprints: Map<string, string>) {
    this.#dir = dir;
    this.#fingerprints = fingerprints;
  }

  /** Reads the record of a folder; empty when there is none. Throws CliError when it is damaged. */
  static read(dir: string): BaseRecord {
    const path = join(dir, RECORD_FILE);
    assertNoLinks([path]);
    let text: string;
    try {
      text = readFileSync(path, "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return new BaseRecord(dir, new Map());
      throw usageError(`${path} cannot be read: ${code ?? "unknown error"}.`);
    }
    return new BaseRecord(dir, parseFingerprints(text, path));
  }

  /** True if an object on the server is still the one this folder is based on; false when the folder never saw it. */
  isCurrent(id: string, fingerprint: string): boolean {
    return this.#fingerprints.get(id) === fingerprint;
  }

  has(id: string): boolean {
    return this.#fingerprints.has(id);
  }

  set(id: string, fingerprint: string): void {
    if (this.isCurrent(id, fingerprint)) return;
    this.#fingerprints.set(id, fingerprint);
    this.#changed = true;
  }

  delete(id: string): void {
    if (this.#fingerprints.delete(id)) this.#changed = true;
  }

  /** Writes what changed. A reader never sees half of it. */
  save(): void {
    if (!this.#changed) return;
    mkdirSync(this.#dir, { recursive: true });
    const path = join(this.#dir, RECORD_FILE);
    const temporary = `${path}.tmp`;
    assertNoLinks([path, temporary]);
    const sorted = Object.fromEntries([...this.#fingerprints].sort(([a], [b]) => (a < b ? -1 : 1)));
    writeFileSync(temporary, `${JSON.stringify(sorted, null, 2)}\n`);
    renameSync(temporary, path);
    this.#changed = false;
  }
}

/** The fingerprint of an object: equal for two whose `fields` are equal. The order of keys means nothing. */
export function makeFingerprint<F>(files: F, fields: readonly (keyof F)[]): string {
  const text = JSON.stringify(fields.map((field) => sortKeys(files[field] ?? null)));
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

function parseFingerprints(text: string, path: string): Map<string, string> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  const entries = isRecord(value) ? Object.entries(value) : null;
  if (!entries?.every((entry): entry is [string, string] => typeof entry[1] === "string"))
    throw usageError(`${path} is damaged.`, { hint: "Delete it, then pull to make it anew." });
  return new Map(entries);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortKeys(value[key])]),
  );
}
