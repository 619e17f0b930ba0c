import type { Activations } from "./activations.ts";
import { type AgentClient, createClient } from "./client.ts";
import { AgentApiError, AgentDeactivatedError, AgentPausedError, RunEndedError } from "./errors.ts";
import type { Settings } from "./options.ts";
import type { RunRegistry } from "./run-registry.ts";

/** Makes the clients of activations. A refused call ends the runs it concerns. */
export class Clients {
  readonly #settings: Settings;
  readonly #activations: Activations;
  readonly #runs: RunRegistry;
  readonly #stopped = new AbortController();

  constructor(settings: Settings, activations: Activations, runs: RunRegistry) {
    this.#settings = settings;
    this.#activations = activations;
    this.#runs = runs;
  }

  /** The client of an activation; `around` performs each of its calls. */
  of(activationId: string, around?: <T>(call: () => Promise<T>) => Promise<T>): AgentClient {
    const { baseUrl, fetch, telemetry } = this.#settings;
    return createClient({
      activationId,
      baseUrl,
      fetch,
      telemetry,
      stopped: this.#stopped.signal,
      authorize: () => this.#activations.authorize(activationId),
      ...(around && { around }),
      onRefused: (error) => this.#endRuns(activationId, error),
    });
  }

  /** Stops repeating calls; calls that wait for a repeat throw `reason`. */
  stop(reason: Error): void {
    this.#stopped.abort(reason);
  }

  #endRuns(activationId: string, error: unknown): void {
    // A call may notice a pause before its event arrives.
    if (error instanceof AgentPausedError || error instanceof AgentDeactivatedError) this.#runs.abort({ activationId }, () => error);
    // The key is dead, whatever the events say.
    if (error instanceof AgentApiError && error.status === 401)
      this.#runs.abort({ activationId }, (runId) => new RunEndedError(runId, null, error.message, { cause: error }));
  }
}
