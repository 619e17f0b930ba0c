import type { AgentEvent, AgentEvents } from "../contract.generated.ts";
import { SAMPLES } from "./samples.generated.ts";

const AT = "2026-01-01T12:00:00.000Z";

/** Every type of event. */
export const EVENT_TYPES = Object.keys(SAMPLES) as (keyof AgentEvents)[];

let count = 0;

/** An event of a type with plausible fields, and its own id; `fields` replace some of them. */
export function sampleEvent<T extends keyof AgentEvents>(type: T, fields: Partial<AgentEvents[T]> = {}): AgentEvents[T] {
  count += 1;
  const envelope: object = { id: `evt_sample_${count}`, type, activationId: "act_sample", runId: null, sequence: count, timestamp: AT };
  const own: object = SAMPLES[type][0];
  return { ...envelope, ...own, ...fields } as AgentEvents[T];
}

/** One event of every type, and of every reason and decision a type has. */
export function sampleEvents(): AgentEvent[] {
  return EVENT_TYPES.flatMap((type): AgentEvent[] => SAMPLES[type].map((fields) => sampleEvent(type, fields)));
}
