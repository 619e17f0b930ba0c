import type { ReceivedMail } from "@mailsvc/sdk/contract";

const AUTOMATIC: Readonly<Record<NonNullable<ReceivedMail["autoReply"]>, string>> = {
  null_sender: "Its sender is empty, as that of a bounce.",
  program_address: "Its sender is the address of a program.",
  auto_submitted: "It says that a program has sent it.",
  precedence: "It says that it is bulk mail.",
  mailing_list: "It came through a mailing list.",
  loop: "It has been here before.",
  too_many: "Its sender writes faster than people do.",
};

/** Explains why a mail counts as automatic. */
export function explainAutomatic(reason: NonNullable<ReceivedMail["autoReply"]>): string {
  return AUTOMATIC[reason];
}

/** Names the sender of a mail as mail programs do. */
export function nameSender({ fromName, from }: Pick<ReceivedMail, "fromName" | "from">): string {
  return fromName || from || "(no sender)";
}

/** An address that mail came to. One that was made for the answers to a single email is shortened: its code says nothing to people. */
export function shortenAddress(address: string): string {
  return address.replace(/^reply\+[^@]{20,}@/, "reply+…@");
}
