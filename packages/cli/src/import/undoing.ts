import { type ContactImportSummary, contract } from "@mailsvc/sdk/contract";
import { cancelledError, hasStatus } from "../runtime/errors.ts";
import { buildCall } from "../runtime/request.ts";
import { formatNumber } from "../text/units.ts";
import type { Session } from "../types.ts";

const POLL_MS = 500;

/** Waits while an import is being undone, and returns it as it is then. Throws CliError when the user stops waiting. */
export async function awaitUndone(session: Session, first: ContactImportSummary): Promise<ContactImportSummary> {
  let found = first;
  if (found.state !== "UNDOING") return found;
  const { host, signal, out } = session;
  out.note("The server undoes it in the background, also if you stop waiting.");
  const progress = session.progress("Undoing");
  try {
    while (found.state === "UNDOING") {
      await host.sleep(POLL_MS, signal);
      if (signal.aborted) throw cancelledError();
      found = (await session.send(buildCall(contract.contacts.getImport, [found.id], {}, undefined))).data as ContactImportSummary;
      progress.update(`Undoing, ${formatNumber(found.created + found.existing)} contacts left`);
    }
  } finally {
    progress.stop();
  }
  return found;
}

/** Waits while an earlier import with a tag is being undone. One that is not there, or may not be read, is not waited for. */
export async function awaitTag(session: Session, tag: string): Promise<void> {
  try {
    const { data } = await session.send(buildCall(contract.contacts.getImport, [tag], {}, undefined));
    await awaitUndone(session, data as ContactImportSummary);
  } catch (error) {
    if (!hasStatus(error, 404) && !hasStatus(error, 403)) throw error;
  }
}
