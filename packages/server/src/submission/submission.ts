import { AddressError, type Mailbox, parseAnyMailbox, parseMailbox } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { storeSends } from "../emails/emails.ts";
import { invalid } from "../lib/api-error.ts";
import { readAddressList } from "../mail/address-list.ts";
import { splitMessage } from "../mail/message-head.ts";
import type { SubmissionDeps, Submitter } from "./deps.ts";
import { mendLines } from "./lines.ts";
import { readMessage } from "./message.ts";
import { prepareMessage, toId } from "./message-store.ts";
import { nameOf } from "./server.ts";

export type { SubmissionReport } from "./deps.ts";
export { SubmissionPorts } from "./deps.ts";
export { type SubmissionOptions, serveSubmission } from "./server.ts";

/** Part of the deps of submission that a message handed over HTTP needs. */
export type ApiMessageDeps = Parameters<typeof prepareMessage>[0] & {
  readonly clock: SubmissionDeps["clock"];
  readonly relays: Pick<SubmissionDeps["relays"], "capturesMail">;
  readonly config: Parameters<typeof nameOf>[0] & Pick<SubmissionDeps["config"], "dev">;
};

/** A message that came over HTTP, checked as far as it can be before the transaction. */
interface ApiMessage {
  /** The mailbox of the From header. */
  readonly from: string;
  /** Stores it as one mail, and returns its id. Throws ApiError as a send does. */
  store(tx: Tx): Promise<string>;
}

/**
 * Prepares a message that a program made itself, as submission over SMTP does. With nobody in `to` it goes to all whom its headers To, Cc and Bcc
 * name. Throws ApiError validation_error.
 */
export async function prepareApiMessage(
  deps: ApiMessageDeps,
  submitter: Pick<Submitter, "workspaceId" | "test" | "senders">,
  received: Buffer,
  { from, to, tags }: { readonly from: string | null; readonly to: readonly string[]; readonly tags: Readonly<Record<string, string>> },
): Promise<ApiMessage> {
  const captured = deps.config.dev && (await deps.relays.capturesMail(deps.db.read));
  const raw = await mendLines(received, captured);
  const parse = captured ? parseAnyMailbox : parseMailbox;
  const named = to.length === 0 ? listNamed(raw) : to;
  const recipients = new Map(named.map((text) => parseRecipient(text, parse)).map((box) => [box.key, box]));
  if (recipients.size === 0)
    throw invalid("Destination", "required", "The message names nobody in To, Cc or Bcc, and no Destination is given.");
  const envelope = {
    ...{ from: from ?? "", recipients: [...recipients.values()], protocol: "HTTP", by: nameOf(deps.config) },
    ...{ at: deps.clock.now(), captured },
  };
  const message = await readMessage(raw, envelope);
  const { instructions } = message;
  const own = { ...message, instructions: { ...instructions, tags: { ...instructions.tags, ...tags } } };
  const accept = await prepareMessage(deps, { ...submitter, acceptsSuppressed: true }, own, envelope);
  return {
    from: message.from,
    store: async (tx) => {
      const [stored] = await storeSends(tx, deps, [await accept(tx)]);
      if (stored === undefined) throw new Error("One mail has one answer.");
      return toId(stored);
    },
  };
}

function listNamed(raw: Buffer): string[] {
  const { fields } = splitMessage(raw);
  return fields
    .filter(({ key }) => key === "to" || key === "cc" || key === "bcc")
    .flatMap(({ value }) => readAddressList(value).boxes.map(({ address }) => address));
}

function parseRecipient(text: string, parse: (text: string) => Mailbox): Mailbox {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw invalid("Destination", "invalid_address", `${JSON.stringify(text.slice(0, 100))} is no address: ${error.message}`);
  }
}
