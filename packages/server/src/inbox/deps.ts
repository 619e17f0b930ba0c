import type { InboundDeps } from "../inbound/deps.ts";
import type { MailParser } from "../inbound/inbound.ts";
import type { MailReleaser } from "./releaser.ts";

/** Dependencies of captured mail; in dev mode its recipients answer. */
export interface InboxDeps extends InboundDeps {
  readonly releaser: MailReleaser;
  /** Reads captured mail, so that who asks for much of it does not hold up received mail. */
  readonly capturedMailParser: MailParser;
}
