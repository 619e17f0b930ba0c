import { type Event, FOLLOWER_LIMITS } from "@mailsvc/sdk/contract";
import { inArray } from "drizzle-orm";
import type { Db } from "../db/db.ts";
import { ApiError } from "../lib/api-error.ts";
import type { Clock, Timer } from "../lib/clock.ts";
import { readStream, showEvent } from "./show.ts";

// Connections of this process: of one API key, of one workspace, and of all. With 50 of one workspace, requests of another took half as
// long again (the 99th percentile, with 100 events a second).
const { perKey: MAX_OF_KEY, perWorkspace: MAX_OF_WORKSPACE } = FOLLOWER_LIMITS;
const MAX = 1000;
// Events read at a time. A client that reads slowly holds up only its own reads: nothing is queued for it.
const PAGE = 200;
// Another process may have numbered events: look this often (real time).
const POLL_MS = 300;

/** A part of a stream. */
interface StreamPart {
  readonly events: readonly Event[];
  /** True when more events follow. */
  readonly full: boolean;
}

interface Read {
  /** Number of the workspace's last wake-up before the read. An earlier read may have missed the events of a later wake-up. */
  readonly wakeUps: number;
  readonly part: Promise<StreamPart>;
}

interface Workspace {
  /** Connections by API key. */
  readonly connections: Map<string, number>;
  /** Callbacks of connections that wait for events. */
  readonly waiting: Set<() => void>;
  /** Reads under way, by the number they begin with. */
  readonly reads: Map<number, Read>;
  wakeUps: number;
  /** The newest number that the poll has seen. */
  last: number;
}

/**
 * The connections that follow events, by workspace. All that are at the same place of a stream share a read, and all of a process share
 * the poll for what other processes number: a further connection costs what is written to it.
 */
export class Followers {
  readonly #deps: () => { readonly db: Db; readonly clock: Clock };
  readonly #workspaces = new Map<string, Workspace>();
  #poll: Timer | null = null;

  constructor(deps: () => { readonly db: Db; readonly clock: Clock }) {
    this.#deps = deps;
  }

  /** Counts a connection until the returned function is called. Throws ApiError rate_limited. */
  open(workspaceId: string, keyId: string): () => void {
    const { connections } = this.#find(workspaceId);
    const ofKey = connections.get(keyId) ?? 0;
    const ofWorkspace = sum(connections.values());
    const all = sum([...this.#workspaces.values()].map((workspace) => sum(workspace.connections.values())));
    if (ofKey >= MAX_OF_KEY || ofWorkspace >= MAX_OF_WORKSPACE || all >= MAX)
      throw new ApiError(
        "rate_limited",
        `Too many connections follow events: ${ofKey} with this API key, ${ofWorkspace} in this workspace, ${all} in all.`,
        {
          headers: { "retry-after": "10" },
          hint: `Close one first. An API key may follow with ${MAX_OF_KEY} connections at a time, a workspace with ${MAX_OF_WORKSPACE}.`,
        },
      );
    connections.set(keyId, ofKey + 1);
    return () => {
      const left = (connections.get(keyId) ?? 1) - 1;
      if (left > 0) connections.set(keyId, left);
      else connections.delete(keyId);
      this.#forget(workspaceId);
    };
  }

  /** The events of a stream from a number on, a page at most. */
  async read(workspaceId: string, first: number): Promise<StreamPart> {
    const workspace = this.#find(workspaceId);
    const { reads, wakeUps } = workspace;
    const underWay = reads.get(first);
    if (underWay?.wakeUps === wakeUps) return underWay.part;
    const read: Read = { wakeUps, part: this.#readPart(workspaceId, first) };
    reads.set(first, read);
    try {
      return await read.part;
    } finally {
      if (reads.get(first) === read) reads.delete(first);
      this.#forget(workspaceId);
    }
  }

  /** Settles when the stream of a workspace may have got longer, after `ms` of real time, or when `signal` aborts. */
  wait(workspaceId: string, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const { waiting } = this.#find(workspaceId);
      const wake = (): void => {
        waiting.delete(wake);
        timer.cancel();
        signal.removeEventListener("abort", wake);
        this.#forget(workspaceId);
        resolve();
      };
      const timer = this.#deps().clock.real.after(ms, wake);
      waiting.add(wake);
      signal.addEventListener("abort", wake);
      if (signal.aborted) wake();
    });
  }

  /** The stream of a workspace has got longer. */
  wake(workspaceId: string): void {
    const workspace = this.#workspaces.get(workspaceId);
    if (!workspace) return;
    workspace.wakeUps += 1;
    for (const wake of [...workspace.waiting]) wake();
  }

  /** Looks for what other processes number, until `stopPolling`. */
  startPolling(): void {
    this.#poll = this.#deps().clock.real.after(POLL_MS, () => {
      const poll = this.#poll;
      // While the database is unavailable, connections learn of it when they read.
      void this.#look()
        .catch(() => {})
        .finally(() => {
          if (this.#poll === poll) this.startPolling();
        });
    });
  }

  stopPolling(): void {
    this.#poll?.cancel();
    this.#poll = null;
  }

  async #look(): Promise<void> {
    const ids = [...this.#workspaces.keys()];
    if (ids.length === 0) return;
    const { read } = this.#deps().db;
    const { eventStreams: s } = read.t;
    const rows = await read.select({ id: s.workspaceId, last: s.last }).from(s).where(inArray(s.workspaceId, ids));
    for (const { id, last } of rows) {
      const workspace = this.#workspaces.get(id);
      if (!workspace || workspace.last >= last) continue;
      workspace.last = last;
      this.wake(id);
    }
  }

  async #readPart(workspaceId: string, first: number): Promise<StreamPart> {
    const rows = await readStream(this.#deps().db.read, workspaceId, first, PAGE);
    return { events: rows.map(showEvent), full: rows.length === PAGE };
  }

  #find(workspaceId: string): Workspace {
    const found = this.#workspaces.get(workspaceId);
    if (found) return found;
    const made: Workspace = { connections: new Map(), waiting: new Set(), reads: new Map(), wakeUps: 0, last: 0 };
    this.#workspaces.set(workspaceId, made);
    return made;
  }

  #forget(workspaceId: string): void {
    const workspace = this.#workspaces.get(workspaceId);
    if (workspace && workspace.connections.size + workspace.waiting.size + workspace.reads.size === 0) this.#workspaces.delete(workspaceId);
  }
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const n of numbers) total += n;
  return total;
}
