import type * as z from "zod";
import { prepareApiMessage } from "../../submission/submission.ts";
import type { Preparation, Writes } from "../operation.ts";
import { type Destination, type Tags, toTags } from "./send-fields.ts";

/** A mail that its program made itself. */
export interface PreparedRaw {
  readonly from: string;
  store(calls: Writes): Promise<string>;
}

interface RawMail {
  readonly FromEmailAddress?: string | null | undefined;
  readonly Destination?: z.output<typeof Destination> | null | undefined;
  readonly EmailTags?: z.output<typeof Tags>;
  readonly ConfigurationSetName?: string | null | undefined;
}

/** Prepares a mail in MIME, which goes out as it is, as one that came over SMTP does. */
export async function prepareRaw(data: string, mail: RawMail, { deps, workspaceId, test, senders }: Preparation): Promise<PreparedRaw> {
  const { ToAddresses, CcAddresses, BccAddresses } = mail.Destination ?? {};
  const to = [...(ToAddresses ?? []), ...(CcAddresses ?? []), ...(BccAddresses ?? [])];
  const message = await prepareApiMessage(deps, { workspaceId, test, senders }, Buffer.from(data, "base64"), {
    ...{ from: mail.FromEmailAddress ?? null, to, tags: toTags(mail.EmailTags, mail) },
  });
  return { from: message.from, store: ({ tx }) => message.store(tx) };
}
