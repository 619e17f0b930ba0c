import type { InboundDeps } from "../inbound/deps.ts";
import type { MailReleaser } from "./releaser.ts";

/** What captured mail needs; of dev mode its recipients answer. */
export interface InboxDeps extends InboundDeps {
  readonly releaser: MailReleaser;
}
