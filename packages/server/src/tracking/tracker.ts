import { LRUCache } from "lru-cache";
import { growingCache } from "../lib/growing-cache.ts";
import { TrackedLinks } from "./links.ts";
import { cutHtml, type Skeleton } from "./skeleton.ts";

// Characters of HTML whose skeletons are kept: the contents in use at the same time.
const MAX_CACHED = 4_000_000;

// Requests that are remembered: some megabytes.
const MAX_RECENT = 20_000;

/** Tracked mail in the memory of this process; a new process begins with nothing. */
export class Tracker {
  readonly links = new TrackedLinks();
  readonly #recent = growingCache<string, number>(MAX_RECENT);
  readonly #skeletons = new LRUCache<string, Skeleton>({ maxSize: MAX_CACHED, sizeCalculation: (_skeleton, html) => html.length });

  /** The skeleton of HTML that several mails may share. */
  async skeletonOf(html: string): Promise<Skeleton> {
    const known = this.#skeletons.get(html);
    if (known) return known;
    const skeleton = await cutHtml(html);
    this.#skeletons.set(html, skeleton);
    return skeleton;
  }

  /** True if a request repeats one recorded less than `withinMs` ago. */
  isRepeat(key: string, now: number, withinMs: number): boolean {
    const at = this.#recent.get(key);
    return at !== undefined && now >= at && now - at < withinMs;
  }

  remember(key: string, now: number): void {
    this.#recent.set(key, now);
  }

  clear(): void {
    this.links.clear();
    this.#recent.clear();
    this.#skeletons.clear();
  }
}
