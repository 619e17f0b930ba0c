import type { AgentEvent } from "./contract.generated.ts";
import { AgentDeactivatedError, AgentPausedError, MissingKeyError } from "./errors.ts";
import { isKnown, type UnknownEvent } from "./event.ts";
import { type Store, update } from "./stores/store.ts";
import type { Vault } from "./vault.ts";

/** An agent's record of an activation. */
export interface Activation {
  readonly activationId: string;
  readonly status: "active" | "paused" | "deactivated";
  /** Reason it is paused or deactivated. */
  readonly reason: string | null;
  /** Slug from agent.activated; null when that event has not arrived. */
  readonly agentSlug: string | null;
  readonly organizationName: string | null;
  readonly scopes: readonly string[];
  /** Values the brand has set, and the defaults of the rest. */
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  /** The sequence of the event that set `settings`. */
  readonly settingsSequence: number;
  /** The sequence of the event that set `scopes`. */
  readonly scopesSequence: number;
  /** The sequence of the event that set `status`. */
  readonly sequence: number;
}

/** The activations of an agent: their states and keys. */
export interface Activations {
  /** Applies an event before its handlers run. `stale`: a newer event has already set the opposite, so no handler may run. */
  apply(event: AgentEvent | UnknownEvent): Promise<"current" | "stale">;
  read(activationId: string): Promise<Activation | null>;
  list(): Promise<Activation[]>;
  /** The key of an active activation. Throws AgentPausedError, AgentDeactivatedError or MissingKeyError. */
  authorize(activationId: string): Promise<string>;
}

const PREFIX = "activation/";

/**
 * The states of activations, set by events (docs/marketplace.md#turn-an-agent-on). Events may arrive in another order than they happened:
 *
 *   state       | event             | next
 *   ------------|-------------------|---------------------------------------------------------------
 *   none        | agent.activated   | active, the key is in the vault
 *   any         | agent.paused      | paused; if a newer event set the state: stale, unchanged
 *   any         | agent.resumed     | active; if a newer event set the state: stale, unchanged
 *   paused      | agent.activated   | paused with the key, if the pause is newer; otherwise active
 *   any         | scopes_changed    | the same with these scopes, unless a newer event has set them
 *   any         | settings_changed  | the same with these settings, unless a newer event has set them
 *   any         | agent.deactivated | deactivated, the key is removed from the vault
 *   deactivated | any of them       | deactivated; a pause or a resumption is stale
 */
export function createActivations(store: Store, vault: Vault): Activations {
  const read = async (activationId: string): Promise<Activation | null> => parse(await store.get(PREFIX + activationId));

  return {
    read,
    list: async () => {
      const found = await Promise.all((await store.list(PREFIX)).map(async (key) => parse(await store.get(key))));
      return found.filter((one) => one !== null);
    },
    apply: async (event) => {
      if (!isKnown(event)) return "current";
      const { type, activationId } = event;
      const current = await read(activationId);
      // First the key: a state without its key would let handlers run that cannot call.
      if (type === "agent.activated" && current?.status !== "deactivated") await vault.save(activationId, event.apiKey);
      let stale = false;
      await update(store, PREFIX + activationId, (text) => {
        const before = parse(text);
        const next = transition(before, event);
        stale = next === "stale";
        return next === "stale" || next === null ? undefined : { to: JSON.stringify(next) };
      });
      if (type === "agent.deactivated") await vault.remove(activationId);
      return stale ? "stale" : "current";
    },
    authorize: async (activationId) => {
      const state = await read(activationId);
      if (state?.status === "paused") throw new AgentPausedError(activationId, state.reason);
      if (state?.status === "deactivated") throw new AgentDeactivatedError(activationId, state.reason);
      const apiKey = await vault.load(activationId);
      if (apiKey === null) throw new MissingKeyError(activationId);
      return apiKey;
    },
  };
}

/** The state after an event; null when the event says nothing about it. */
function transition(before: Activation | null, event: AgentEvent): Activation | "stale" | null {
  const { type, activationId, sequence } = event;
  const known = before ?? {
    activationId,
    status: "active",
    reason: null,
    agentSlug: null,
    organizationName: null,
    scopes: [],
    scopesSequence: 0,
    settings: {},
    settingsSequence: 0,
    sequence: 0,
  };
  const isNewer = sequence >= known.sequence;
  const ended = known.status === "deactivated";
  switch (type) {
    case "agent.activated": {
      const { agentSlug, organizationName } = event;
      const state = ended || !isNewer ? {} : { status: "active" as const, reason: null, sequence };
      return { ...known, agentSlug, organizationName, ...scopesOf(known, event), ...settingsOf(known, event), ...state };
    }
    case "agent.scopes_changed":
      return { ...known, ...scopesOf(known, event) };
    case "agent.settings_changed":
      return { ...known, ...settingsOf(known, event) };
    case "agent.paused":
      return ended || !isNewer ? "stale" : { ...known, status: "paused", reason: event.reason, sequence };
    case "agent.resumed":
      return ended || !isNewer ? "stale" : { ...known, status: "active", reason: null, sequence };
    case "agent.deactivated":
      return { ...known, status: "deactivated", reason: event.reason, sequence };
    default:
      return null;
  }
}

/** The scopes of an event, unless a newer one has set them. */
function scopesOf(
  known: Activation,
  { scopes, sequence }: { readonly scopes: readonly string[]; readonly sequence: number },
): Pick<Activation, "scopes" | "scopesSequence"> | null {
  return sequence >= known.scopesSequence ? { scopes, scopesSequence: sequence } : null;
}

/** The settings of an event, unless a newer one has set them. */
function settingsOf(
  known: Activation,
  { settings, sequence }: { readonly settings: Activation["settings"]; readonly sequence: number },
): Pick<Activation, "settings" | "settingsSequence"> | null {
  return sequence >= known.settingsSequence ? { settings, settingsSequence: sequence } : null;
}

function parse(text: string | null): Activation | null {
  return text === null ? null : (JSON.parse(text) as Activation);
}
