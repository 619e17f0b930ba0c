/** @jsxImportSource preact */
import type { Activation, EmailFilterStatus, ListingActivation, Relay, Webhook } from "@mailsvc/sdk/contract";
import { describeRelayState } from "@mailsvc/sdk/contract/facts";
import { session } from "../api/session.ts";
import { Status } from "./status.tsx";

/** State of an email. A server that captures all mail calls it delivered, although nobody got it; this shows it as captured. */
export function EmailState({ status }: { readonly status: EmailFilterStatus }) {
  const { dev = false, capturesMail = false } = session.value ?? {};
  return <Status status={status === "delivered" && capturesMail && !dev ? "captured" : status} />;
}

/** The state of a webhook: one that is enabled and whose attempts all fail is failing. */
export function WebhookState({ webhook: { status, failingSince } }: { readonly webhook: Pick<Webhook, "status" | "failingSince"> }) {
  const fails = status === "enabled" && failingSince !== null;
  return <Status status={fails ? "failed" : status} text={fails ? "failing" : status} />;
}

/** The state of a relay. */
export function RelayState(relay: Pick<Relay, "state" | "answeredAt">) {
  const { state, answeredAt } = relay;
  return <Status status={state === "up" && answeredAt === null ? "waiting" : state} text={describeRelayState(relay)} />;
}

/** True if an agent is on, but its builder's server has not accepted its key yet. Until then it does nothing. */
export function waitsForServer({ status, keyDeliveredAt }: Pick<Activation | ListingActivation, "status" | "keyDeliveredAt">): boolean {
  return status === "active" && keyDeliveredAt === null;
}

/** The state of an agent that was turned on. */
export function ActivationState({
  activation,
}: {
  readonly activation: Pick<Activation | ListingActivation, "status" | "keyDeliveredAt">;
}) {
  return waitsForServer(activation) ? <Status status="waiting" text="waits for its server" /> : <Status status={activation.status} />;
}
