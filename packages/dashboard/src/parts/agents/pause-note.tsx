/** @jsxImportSource preact */
import type { Activation, ListingActivation } from "@mailsvc/sdk/contract";
import type { ComponentChildren } from "preact";
import { Time } from "../time.tsx";

type PauseReason = Activation["pauseReasons"][number];

/** Reasons an activation is paused, in a few words. */
export const PAUSE_WORDS: Readonly<Record<PauseReason, string>> = {
  user_paused: "paused by the brand",
  plan_downgrade: "not covered by the plan",
  webhook_failure: "its webhook fails",
};

const WHAT_HELPS: Readonly<Record<PauseReason, string>> = {
  user_paused: "Somebody of the brand paused it. Resuming it clears this reason.",
  plan_downgrade: "The plan of the workspace covers fewer agents. A plan that covers it clears this reason by itself.",
  webhook_failure: "Its builder's server did not take an event after all retries. Resuming it tries these events again.",
};

interface Props {
  readonly activation: Pick<Activation | ListingActivation, "pauseReasons" | "webhookLastError">;
  /** Actions that help. */
  readonly children?: ComponentChildren;
}

/** Reasons an activation is paused, its last error, and a remedy; nothing while it is not paused. */
export function PauseNote({ activation: { pauseReasons, webhookLastError }, children }: Props) {
  if (pauseReasons.length === 0) return null;
  return (
    <section class="card summary warn pause-note">
      <h2>Paused: {pauseReasons.map((reason) => PAUSE_WORDS[reason]).join(", ")}</h2>
      {pauseReasons.map((reason) => (
        <p key={reason} class="soft">
          {WHAT_HELPS[reason]}
        </p>
      ))}
      {webhookLastError && webhookLastError.clearedAt === null ? <LastError error={webhookLastError} /> : null}
      {children}
    </section>
  );
}

/** The last event that a webhook did not take. */
export function LastError({ error }: { readonly error: NonNullable<Activation["webhookLastError"]> }) {
  const { type, at, attempts, httpStatus, message, answer } = error;
  return (
    <div class="last-error">
      <pre class="reply">{message}</pre>
      {answer ? <pre class="reply">{answer}</pre> : null}
      <p class="soft">
        <code>{type}</code>
        {httpStatus === null ? "" : ` · status ${httpStatus}`} · {attempts === 1 ? "1 attempt" : `${attempts} attempts`} · <Time at={at} />
      </p>
    </div>
  );
}
