import { LRUCache } from "lru-cache";

/**
 * A cache of up to `entries` entries, without those that were not used for longest. It takes memory as it fills: by its own limit
 * `max`, lru-cache would reserve the room for all entries at once, which took half the time of a new test world.
 */
export function growingCache<Key extends {}, Value extends {}>(entries: number): LRUCache<Key, Value> {
  return new LRUCache({ maxSize: entries, sizeCalculation: () => 1 });
}
