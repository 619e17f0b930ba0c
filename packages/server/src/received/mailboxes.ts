import { and, eq } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { findEmailById } from "../emails/emails.ts";
import { IS_VERIFIED } from "./tables.ts";

/** An address whose mail a workspace receives. */
export interface Mailbox {
  readonly workspaceId: string;
  readonly address: string;
  /** The email that an answer to this address is about; null for an address of an inbound domain. */
  readonly emailId: string | null;
}

/** The mailbox of the reply address of an email; null once the email is gone. */
export async function findReplyMailbox(read: Reader, emailId: string, address: string): Promise<Mailbox | null> {
  const email = await findEmailById(read, emailId);
  return email && { workspaceId: email.workspaceId, address, emailId };
}

/** The mailbox of an address at a verified inbound domain; null for all others. */
export async function findDomainMailbox(read: Reader, address: string, domain: string): Promise<Mailbox | null> {
  const { inboundDomains: t } = read.t;
  const [found] = await read
    .select({ workspaceId: t.workspaceId })
    .from(t)
    .where(and(eq(t.domain, domain), IS_VERIFIED));
  return found ? { workspaceId: found.workspaceId, address, emailId: null } : null;
}
