/** States of a relay: `down` when it cannot be reached or refuses the login, `paused` when it refuses nearly all recipients. */
export const RELAY_STATES = ["up", "down", "paused"] as const;
export type RelayState = (typeof RELAY_STATES)[number];

/** The state to show to people: a relay that has answered nothing since the server started counts as `up`, and is not tried yet. */
export function describeRelayState(relay: { readonly state: RelayState; readonly answeredAt: string | null }): string {
  return relay.state === "up" && relay.answeredAt === null ? "not tried yet" : relay.state;
}
