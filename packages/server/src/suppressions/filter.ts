import { asc, gt } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";
import { Fingerprints } from "../lib/fingerprints.ts";
import { ERASED_MARKER } from "./erasure.ts";

// Rows loaded in one turn of the event loop.
const PAGE = 2000;

/**
 * An in-memory filter that tells, for nearly every address, that it is not suppressed. It saves the database lookup, which is
 * 4 of the 16 µs a send spends in the database. It works only where this process is the only writer; elsewhere it answers
 * "may be suppressed" for every address.
 *
 * | state     | trigger              | next      | `mayContain` |
 * | --------- | -------------------- | --------- | ------------ |
 * | `empty`   | first `mayContain`   | `loading` | always true  |
 * | `loading` | all rows loaded      | `loaded`  | always true  |
 * | `loading` | a read fails         | `empty`   | always true  |
 * | `loaded`  | `add`                | `loaded`  | exact, apart from rare false positives |
 * | any       | `clear`              | `empty`   | always true  |
 */
export class SuppressionFilter {
  readonly #read: Reader | null;
  readonly #real: Clock["real"];
  #addresses = new Fingerprints();
  /** Workspaces that store some addresses as hashes only. */
  #workspacesWithHashes = new Set<string>();
  #state: "empty" | "loading" | "loaded" = "empty";
  /** Counts up with `clear`, so that a load that began before it ends. */
  #generation = 0;

  /** `read` is null where other processes write to the database too. */
  constructor(read: Reader | null, real: Clock["real"]) {
    this.#read = read;
    this.#real = real;
  }

  /** False only if none of the addresses (as from `addressKey`) is suppressed, in any scope. */
  mayContain(workspaceId: string, emails: readonly string[]): boolean {
    if (this.#state !== "loaded") {
      if (this.#state === "empty" && this.#read) void this.#load(this.#read);
      return true;
    }
    if (this.#workspacesWithHashes.has(workspaceId)) return true;
    for (const email of emails) if (this.#addresses.mayHave(`${workspaceId} ${email}`)) return true;
    return false;
  }

  /** Call in the transaction that writes a suppression. If it rolls back, the address is looked up once too often, no more. */
  add(workspaceId: string, email: string): void {
    if (this.#read === null) return;
    if (email === ERASED_MARKER) this.#workspacesWithHashes.add(workspaceId);
    else this.#addresses.add(`${workspaceId} ${email}`);
  }

  /** Drops everything and loads again when next asked: the rows were replaced from outside. */
  clear(): void {
    this.#addresses = new Fingerprints();
    this.#workspacesWithHashes = new Set();
    this.#state = "empty";
    this.#generation += 1;
  }

  async #load(read: Reader): Promise<void> {
    this.#state = "loading";
    const generation = this.#generation;
    const { suppressions: t } = read.t;
    let last = 0;
    try {
      for (;;) {
        // The first caller is inside a transaction, which must end first; later pages yield to other work.
        await this.#real.sleep(0);
        if (generation !== this.#generation) return;
        const rows = await read
          .select({ seq: t.seq, workspaceId: t.workspaceId, email: t.email })
          .from(t)
          .where(gt(t.seq, last))
          .orderBy(asc(t.seq))
          .limit(PAGE);
        if (generation !== this.#generation) return;
        for (const { workspaceId, email } of rows) this.add(workspaceId, email);
        const end = rows.at(-1);
        if (rows.length < PAGE || !end) break;
        last = end.seq;
      }
      this.#state = "loaded";
    } catch {
      // The next `mayContain` tries again.
      if (generation === this.#generation) this.#state = "empty";
    }
  }
}
