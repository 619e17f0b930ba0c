import { LRUCache } from "lru-cache";
import { MB } from "../lib/units.ts";
import type { Compiled } from "./engine/engine.ts";

/** A compiled version with its sender. */
export interface CompiledVersion {
  readonly compiled: Compiled;
  readonly from: string | null;
  readonly replyTo: string | string[] | null;
}

// Characters of sources; compiled, they take about ten times as much memory.
const MAX_SIZE = 8 * MB;
// Each is a few hundred KB at most.
const MAX_PINNED = 50;
// Characters of subjects: those of some thousand campaigns.
const MAX_SUBJECTS = MB / 4;

/** Templates that are compiled already, by the hashes of all their sources, so that an entry never becomes outdated. */
export class CompiledTemplates {
  readonly versions = new LRUCache<string, CompiledVersion>({
    maxSize: MAX_SIZE,
    sizeCalculation: ({ compiled }) => Math.max(1, compiled.size),
  });
  /** Templates of campaigns. */
  readonly pinned = new LRUCache<string, Compiled>({ max: MAX_PINNED });
  /** The subjects of campaigns alone, for lists. */
  readonly subjects = new LRUCache<string, Compiled>({ maxSize: MAX_SUBJECTS, sizeCalculation: ({ size }) => Math.max(1, size) });
}
