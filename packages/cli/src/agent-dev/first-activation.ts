import { CliError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import { safeText } from "../text/safe-text.ts";
import type { Session } from "../types.ts";
import { activate, type DevMarketplace } from "./setup.ts";

/** The activation after its agent has worked on it. */
export interface FirstActivation {
  readonly id: string;
  readonly isNew: boolean;
  readonly status: string;
}

const LIMIT_MS = 60_000;
const POLL_MS = 250;
// An agent answers an event first and starts its run afterwards.
const REST_MS = 1500;

/**
 * Turns the agent on, waits until it has acknowledged `agent.activated`, and then until none of its runs is at work. Throws CliError when
 * one of them does not happen within a minute, with the webhook's last answer.
 */
export async function activateAndSettle(session: Session, market: DevMarketplace, slug: string, fresh: boolean): Promise<FirstActivation> {
  const activation = await activate(market, slug, fresh);
  await untilAcknowledged(session, market, slug, activation.id);
  await untilAtRest(session, market, activation.id);
  return activation;
}

async function untilAcknowledged(
  { host, signal }: Session,
  { builder }: DevMarketplace,
  slug: string,
  activationId: string,
): Promise<void> {
  const limit = host.now() + LIMIT_MS;
  while (!signal.aborted) {
    const [event] = (await builder.deliveries.list(slug, { type: "agent.activated", activationId })).data;
    if (event?.state === "delivered") return;
    if (event?.state === "dead" || host.now() > limit)
      throw notWorking("The agent did not acknowledge agent.activated", event?.lastAttempt?.message ?? event?.state);
    await host.sleep(POLL_MS, signal);
  }
}

async function untilAtRest({ host, signal }: Session, { brand }: DevMarketplace, activationId: string): Promise<void> {
  const limit = host.now() + LIMIT_MS;
  let restsSince = host.now();
  while (!signal.aborted && host.now() - restsSince < REST_MS) {
    const atWork = (await brand.runs.list(activationId)).data.find(({ status }) => status === "RUNNING");
    if (atWork) restsSince = host.now();
    if (atWork && host.now() > limit) throw notWorking(`The run ${atWork.runId} is still at work`, atWork.title);
    await host.sleep(POLL_MS, signal);
  }
}

function notWorking(message: string, detail: string | null | undefined): CliError {
  return new CliError({
    code: "agent_not_working",
    message: `${message} within ${LIMIT_MS / 1000} s${detail ? `: ${safeText(detail)}` : "."}`,
    exit: EXIT.partial,
    hint: "Leave --once away to see what the agent prints and each event with its outcome.",
  });
}
