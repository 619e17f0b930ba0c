import type { EmailDeps } from "../emails/deps.ts";
import type { Clock } from "../lib/clock.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Queue } from "../queue/queue.ts";

export interface ExplainDeps {
  readonly clock: Clock;
  readonly config: { readonly dev: boolean };
  readonly mailer: Mailer;
  readonly queue: Queue;
  readonly renderHooks: EmailDeps["renderHooks"];
}
