import { and, asc, eq, gt, or } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";
import { Fingerprints } from "../lib/fingerprints.ts";
import { SOME_ERASED } from "./erased.ts";

// Rows read in one turn of the event loop.
const PAGE = 2000;

/**
 * Tells without the database that an address is not suppressed, which is nearly always so: asking costs a send 4 µs of its
 * 16 in the database. Only where this process is the only one that writes; elsewhere every address may be suppressed.
 */
export class SuppressedAddresses {
  readonly #read: Reader | null;
  readonly #real: Clock["real"];
  #known = new Fingerprints();
  /** Workspaces that keep some addresses as hashes only. */
  #hashed = new Set<string>();
  #state: "unread" | "reading" | "read" = "unread";
  #reading = 0;

  /** `read` is null where other processes write as well. */
  constructor(read: Reader | null, real: Clock["real"]) {
    this.#read = read;
    this.#real = real;
  }

  /** False only when none of the addresses (in their compared form) has an entry. */
  mayHold(workspaceId: string, emails: readonly string[]): boolean {
    if (this.#state !== "read") {
      if (this.#state === "unread" && this.#read) void this.#load(this.#read);
      return true;
    }
    if (this.#hashed.has(workspaceId)) return true;
    for (const email of emails) if (this.#known.mayHave(`${workspaceId} ${email}`)) return true;
    return false;
  }

  /** To be called in the transaction that writes an entry: what is taken back is asked for once too often, nothing else. */
  add(workspaceId: string, email: string): void {
    if (this.#read === null) return;
    if (email === SOME_ERASED) this.#hashed.add(workspaceId);
    else this.#known.add(`${workspaceId} ${email}`);
  }

  /** Forgets all, and reads anew: the rows were replaced from outside. */
  clear(): void {
    this.#known = new Fingerprints();
    this.#hashed = new Set();
    this.#state = "unread";
    this.#reading += 1;
  }

  async #load(read: Reader): Promise<void> {
    this.#state = "reading";
    const mine = this.#reading;
    const { suppressions: t } = read.t;
    let last = { workspaceId: "", email: "" };
    try {
      for (;;) {
        // Whoever asked first does so in a transaction: it has to end, and others have to have their turn.
        await this.#real.sleep(0);
        if (mine !== this.#reading) return;
        const rows = await read
          .select({ workspaceId: t.workspaceId, email: t.email })
          .from(t)
          .where(or(gt(t.workspaceId, last.workspaceId), and(eq(t.workspaceId, last.workspaceId), gt(t.email, last.email))))
          .orderBy(asc(t.workspaceId), asc(t.email))
          .limit(PAGE);
        if (mine !== this.#reading) return;
        for (const { workspaceId, email } of rows) this.add(workspaceId, email);
        const end = rows.at(-1);
        if (rows.length < PAGE || !end) break;
        last = end;
      }
      this.#state = "read";
    } catch {
      // Not now, then later.
      if (mine === this.#reading) this.#state = "unread";
    }
  }
}
