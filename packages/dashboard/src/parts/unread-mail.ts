import type { CapturedMail } from "@mailsvc/sdk/contract";
import { signal } from "@preact/signals";

// Mail that was read longer ago than these counts as read because of its age.
const MAX_KEPT = 500;

interface Stored {
  /** All mail up to this id was read. */
  readonly upTo: string;
  readonly read: readonly string[];
}

/** Captured mail that this browser has not shown yet. Ids sort by time. */
export class UnreadMail {
  readonly #name: string;
  readonly #stored;

  constructor(workspaceId: string) {
    this.#name = `mailsvc.read.${workspaceId}`;
    this.#stored = signal<Stored>(parse(localStorage.getItem(this.#name)));
  }

  isUnread({ id }: CapturedMail): boolean {
    const { upTo, read } = this.#stored.value;
    return id > upTo && !read.includes(id);
  }

  markRead(id: string): void {
    const { upTo, read } = this.#stored.peek();
    if (id <= upTo || read.includes(id)) return;
    const all = [...read, id].sort();
    const oldest = all.length > MAX_KEPT ? (all[0] ?? "") : upTo;
    this.#store({ upTo: oldest, read: all.filter((one) => one > oldest) });
  }

  markAllRead(mails: readonly CapturedMail[]): void {
    const newest = mails[0]?.id;
    if (newest !== undefined) this.#store({ upTo: newest, read: [] });
  }

  #store(next: Stored): void {
    this.#stored.value = next;
    localStorage.setItem(this.#name, JSON.stringify(next));
  }
}

function parse(text: string | null): Stored {
  try {
    const { upTo, read } = JSON.parse(text ?? "{}") as Partial<Stored>;
    return { upTo: typeof upTo === "string" ? upTo : "", read: Array.isArray(read) ? read.filter((one) => typeof one === "string") : [] };
  } catch {
    return { upTo: "", read: [] };
  }
}
