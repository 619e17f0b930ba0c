import type { Endpoint } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { Caller, Input } from "./call.ts";

/** A write that is about to run inside its transaction. */
export interface RecordedWrite {
  readonly endpoint: Endpoint;
  readonly input: Input;
  readonly context: Caller["context"];
}

/** Keeps a record of changes. A feature implements it (`app.ts`), so that this module knows no nouns. */
export interface ChangeRecorder {
  /** Runs a write, and records in its transaction what it changed. */
  record(write: RecordedWrite, tx: Tx, run: () => Promise<unknown>): Promise<unknown>;
}
