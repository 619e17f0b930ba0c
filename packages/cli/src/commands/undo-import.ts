import type { ContactImportSummary } from "@mailsvc/sdk/contract";
import type { Command } from "commander";
import { buildEndpointCommand } from "../contract/endpoint-command.ts";
import { printResult } from "../contract/show.ts";
import { awaitUndone } from "../import/undoing.ts";
import type { Run } from "../runtime/action.ts";
import { EXIT } from "../runtime/exit.ts";
import type { CommandSpec } from "../types.ts";

/** `mailsvc contacts undo-import`: waits until a large import is undone, also when it is called again meanwhile. */
export function undoImportCommand(spec: CommandSpec, run: Run): Command {
  return buildEndpointCommand(spec, run, undefined, async (session, data) => {
    await printResult(session, spec, await awaitUndone(session, data as ContactImportSummary));
    return EXIT.ok;
  });
}
