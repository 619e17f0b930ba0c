import { useEffect, useState } from "preact/hooks";
import { isOutdated } from "../api/request-error.ts";
import { useReturn } from "./return.ts";

/** An object whose changes the server counts. */
interface Versioned {
  readonly revision: number;
}

interface Options<T extends Versioned, Fields> {
  /** The newest that the page has loaded. */
  readonly newest: T;
  /** The person's edits. */
  readonly mine: Fields;
  /** Picks the fields edited here. */
  readonly pick: (stored: T) => Fields;
  readonly load: () => Promise<T>;
  /** Called when what is stored replaces what was edited. */
  readonly show: (stored: T) => void;
}

/** An object while it is edited. */
interface Versions<T> {
  /** Version that was stored when the changes began. */
  readonly base: T;
  readonly isChanged: boolean;
  /** Version somebody else stored in the meantime; null without one. */
  readonly theirs: T | null;
  /**
   * Saves by `send`, which names the revision that was edited. False when somebody else has changed the same meanwhile: the person then
   * decides. Throws what `send` throws.
   */
  readonly save: (send: (revision: number) => Promise<T>) => Promise<boolean>;
  readonly takeTheirs: () => void;
  /** Keeps the own changes, which the next saving puts over those of somebody else. */
  readonly keepMine: () => void;
}

/** Edits an object that others may change at the same time: nobody's changes are overwritten before the person has seen them. */
export function useVersions<T extends Versioned, Fields>({ newest, mine, pick, load, show }: Options<T, Fields>): Versions<T> {
  const [base, setBase] = useState(newest);
  const [theirs, setTheirs] = useState<T | null>(null);
  const isChanged = !isSame(mine, pick(base));
  const follow = (stored: T): void => {
    setBase(stored);
    setTheirs(null);
    show(stored);
  };
  const meet = (stored: T): void => {
    if (stored.revision <= base.revision) return;
    if (!isChanged) follow(stored);
    else if (isSame(pick(stored), pick(base)) || isSame(pick(stored), mine)) setBase(stored);
    else setTheirs(stored);
  };
  useEffect(() => meet(newest), [newest.revision, isChanged]);
  useReturn(async () => meet(await load()));
  const save = async (send: (revision: number) => Promise<T>): Promise<boolean> => {
    // Resolve the conflict first.
    if (theirs !== null) return false;
    for (let { revision } = base; ; ) {
      try {
        const stored = await send(revision);
        setBase(stored);
        return true;
      } catch (cause) {
        if (!isOutdated(cause)) throw cause;
        const stored = await load();
        if (!isSame(pick(stored), pick(base))) {
          setTheirs(stored);
          return false;
        }
        // Somebody has changed what is not edited here.
        revision = stored.revision;
      }
    }
  };
  return {
    base,
    isChanged,
    theirs,
    save,
    takeTheirs: () => {
      if (theirs !== null) follow(theirs);
    },
    keepMine: () => {
      setBase(theirs ?? base);
      setTheirs(null);
    },
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
