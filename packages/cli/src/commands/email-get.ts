import { EMAIL_STATES, EMAIL_STATUSES, type EmailDetail } from "@mailsvc/sdk/contract";
import type { Command } from "commander";
import { buildEndpointCommand } from "../contract/endpoint-command.ts";
import type { Run } from "../runtime/action.ts";
import type { CommandSpec } from "../types.ts";
import { findObstacle, formatObstacle } from "./obstacle.ts";

const OPEN: ReadonlySet<EmailDetail["status"]> = new Set(EMAIL_STATUSES.filter((status) => EMAIL_STATES[status].open));

/** `mailsvc emails get`: also says what an email that has not left waits for. */
export function emailGetCommand(spec: CommandSpec, run: Run): Command {
  return buildEndpointCommand(spec, run, undefined, async (session, data) => {
    const { status, to } = data as EmailDetail;
    const obstacle = OPEN.has(status) ? await findObstacle(session, [to]) : null;
    if (obstacle) session.out.note(`${session.term.err.yellow("waits")} ${formatObstacle(obstacle)}`);
    return null;
  });
}
