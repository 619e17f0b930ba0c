import type { AgentHandlers } from "../agent-access.ts";
import { cancelWakeup, getWakeupRow, listWakeups, scheduleWakeup, showWakeup } from "./wakeups.ts";

/** Wakeups, for the agent that schedules them. */
export const agentWakeupHandlers: AgentHandlers<"wakeups"> = {
  create: async (input, { tx, deps, agent }) => {
    const { wakeup, created } = await scheduleWakeup(tx, deps, agent, input);
    return { status: created ? 201 : 200, body: wakeup };
  },
  list: ({ activationId, ...input }, { read }) => listWakeups(read, activationId, input),
  get: async ({ activationId, wakeupId }, { read }) => showWakeup(await getWakeupRow(read, activationId, wakeupId)),
  cancel: ({ activationId, wakeupId }, { tx, deps }) => cancelWakeup(tx, deps, activationId, wakeupId),
};
