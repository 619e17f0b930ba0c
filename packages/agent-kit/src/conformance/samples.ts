import type { AgentEvent, AgentEvents } from "../contract.generated.ts";
import { sampleEvent, sampleEvents } from "../testing/sample-events.ts";

/** Events of one check: each has an id of its own that no earlier check used, and the time of the check. */
export class Samples {
  /** The type of the events of which only the request is special. */
  plainType: "test.ping" | "message.posted" = "test.ping";
  readonly #token: string;
  readonly #timestamp: string;
  #count = 0;

  /** `token` makes the ids of this check differ from those of others. `now` is in ms since 1970. */
  constructor(token: string, now: number) {
    this.#token = token;
    this.#timestamp = new Date(now).toISOString();
  }

  event<T extends keyof AgentEvents>(type: T, fields: Partial<AgentEvents[T]> = {}): AgentEvents[T] {
    return this.#fresh({ ...sampleEvent(type), ...fields } as AgentEvent) as AgentEvents[T];
  }

  /** An event that is nothing special, in ASCII. */
  plain(): AgentEvent {
    return this.plainType === "test.ping" ? this.event("test.ping") : this.event("message.posted", { text: "Hello" });
  }

  /** One event of every type, and of every reason and decision a type has. */
  events(): AgentEvent[] {
    return sampleEvents().map((event) => this.#fresh(event));
  }

  #fresh(event: AgentEvent): AgentEvent {
    this.#count += 1;
    const suffix = `${this.#token}_${this.#count}`;
    const own = { id: `evt_sample_${suffix}`, sequence: this.#count, timestamp: this.#timestamp };
    const activationId = event.activationId === "act_sample" ? `act_sample_${this.#token}` : event.activationId;
    const runId = event.runId === null ? null : `run_sample_${suffix}`;
    return { ...event, ...own, activationId, runId } as AgentEvent;
  }
}
