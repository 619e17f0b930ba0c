import type { PartAnswers } from "../http/part-answers.ts";
import type { Tracing } from "../lib/tracing.ts";
import type { SenderDeps } from "../senders/senders.ts";
import type { SuppressionDeps } from "../suppressions/deps.ts";
import type { TemplateDeps } from "../templates/deps.ts";
import type { RenderHooks } from "./hooks.ts";
import type { StatusListener } from "./states.ts";

/** The texts of a message. */
export interface MessageTexts {
  readonly html: string | null;
  readonly text: string | null;
  /** True if it was not read to its end, or not at all. */
  readonly truncated: boolean;
}

/** Dependencies of showing the content of emails. */
export interface MessageReading {
  /**
   * Reads the texts of a message that goes out as it came in. It may be made to take long, and the event loop goes on meanwhile. Throws
   * ApiError rate_limited while too many others wait.
   */
  readonly readMessage: (message: Uint8Array) => Promise<MessageTexts>;
}

export interface EmailDeps extends SenderDeps, SuppressionDeps, TemplateDeps, MessageReading {
  /** Traces; null when they are off. */
  readonly tracing: Tracing | null;
  /** Listeners that are told when the status of emails changes: the recorder of a run, and tests. */
  readonly statusListeners: readonly StatusListener[];
  readonly renderHooks: RenderHooks;
  readonly partAnswers: PartAnswers;
  readonly config: SenderDeps["config"] & {
    /** The domain of reply addresses; null when no mail is received. */
    readonly replyDomain: string | null;
  };
}
