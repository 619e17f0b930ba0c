import type { RecordingMarketplace } from "../testing/recording-marketplace.ts";

// Calls that follow each other faster belong to one beat.
const BEAT_MS = 400;
// A call so soon after an event may be the answer to it.
const ANSWER_MS = 2000;
// The last gaps that count.
const GAPS = 5;

/** Times at which an agent began to call for an activation by itself, ms: calls of its runs at work, and those that follow no event. */
export function listBeats({ calls, relay }: RecordingMarketplace, activationId: string, runs: readonly string[]): number[] {
  const events = relay.events.filter((event) => event.activationId === activationId);
  const beats: number[] = [];
  let last = 0;
  for (const call of calls) {
    if (call.activationId !== activationId) continue;
    const isOfRun = call.runId !== null && runs.includes(call.runId);
    if (!isOfRun && events.some(({ at }) => call.at >= at - ANSWER_MS && call.at < at + ANSWER_MS)) continue;
    if (call.at - last >= BEAT_MS) beats.push(call.at);
    last = call.at;
  }
  return beats;
}

/** The longest of the last gaps between beats, ms; null without two beats. */
export function findGap(beats: readonly number[]): number | null {
  const gaps = beats.slice(1).map((at, i) => at - (beats[i] ?? at));
  return gaps.length === 0 ? null : Math.max(...gaps.slice(-GAPS));
}
