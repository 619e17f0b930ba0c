import type { InboundDeps } from "../inbound/deps.ts";

/** What captured mail needs; of dev mode its recipients answer. */
export interface InboxDeps extends InboundDeps {}
