import type { ContactDeps } from "../contacts/deps.ts";
import type { EmailDeps } from "../emails/deps.ts";
import type { Log } from "../lib/log.ts";
import type { MembershipDeps } from "../memberships/memberships.ts";
import type { LinkDeps } from "../unsubscribe/deps.ts";

export interface ListDeps extends ContactDeps, EmailDeps, LinkDeps, MembershipDeps {
  readonly log: Log;
  readonly config: EmailDeps["config"];
}
