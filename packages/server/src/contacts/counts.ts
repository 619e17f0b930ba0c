import type { ContactStatus } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { fold } from "../lib/fold.ts";
import type { ContactRow } from "./store.ts";

/** Contacts counted together: how far an offset has to walk once its block is found, and how many counts there are to sum. */
export const BLOCK = 8192;

/** The count of all contacts, whatever their tags: no tag is empty. */
export const ALL = "";

export function blockOf(seq: number): number {
  return Math.floor(seq / BLOCK);
}

/** The form in which tags are compared. */
export function tagKey(tag: string): string {
  return fold(tag.trim());
}

export function tagKeys(tags: readonly string[]): string[] {
  return [...new Set(tags.map(tagKey))];
}

type Counted = Pick<ContactRow, "workspaceId" | "seq" | "status" | "tags">;

interface Count {
  workspaceId: string;
  tagKey: string;
  status: ContactStatus;
  block: number;
  delta: number;
}

/** Gathers what a transaction changes of the counts, to write it at its end as few rows. */
export class Tally {
  readonly #counts = new Map<string, Count>();

  /** Counts a contact in (`delta` 1) or out (-1): under its status, with each of its tags. */
  add({ workspaceId, seq, status, tags }: Counted, delta: 1 | -1): void {
    const block = blockOf(seq);
    for (const key of [ALL, ...tagKeys(tags)]) {
      const name = `${status} ${block} ${key}`;
      const count = this.#counts.get(name);
      if (count) count.delta += delta;
      else this.#counts.set(name, { workspaceId, tagKey: key, status, block, delta });
    }
  }

  /** Writes the changes; tells how many rows that took. All contacts counted must be of one workspace. */
  async write(tx: Tx): Promise<number> {
    const rows = [...this.#counts.values()].filter(({ delta }) => delta !== 0);
    await tx.insertAll(tx.t.contactCounts, rows);
    return rows.length;
  }
}
