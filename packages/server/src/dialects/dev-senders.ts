import { MailboxText, parseMailbox } from "@mailsvc/sdk/contract";
import { isVerified, trustSenders } from "../senders/senders.ts";
import type { Writes } from "./operation.ts";

/**
 * In dev mode, makes the domain of a From address a verified sender: a program that is tried out here has verified it at the other
 * service. Does nothing elsewhere, and for what is no address.
 */
export async function trustSenderInDev(from: string | undefined, { tx, deps, workspaceId }: Writes): Promise<void> {
  if (!deps.config.dev || !MailboxText.safeParse(from).success || from === undefined) return;
  const box = parseMailbox(from);
  if (!(await isVerified(tx, deps, workspaceId, box))) await trustSenders(tx, deps, workspaceId, [box.domain]);
}
