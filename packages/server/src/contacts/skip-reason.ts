import type { SkipReason } from "@mailsvc/sdk/contract";
import type { ContactRow } from "./store.ts";

const BY_STATUS = {
  SUBSCRIBED: null,
  UNSUBSCRIBED: "unsubscribed",
  BOUNCED: "bounced",
  COMPLAINED: "complained",
} as const satisfies Record<ContactRow["status"], SkipReason | null>;

/** Returns the reason a contact gets no mail of campaigns and automations; null if it may get it. */
export function explainNoMail({ status }: Pick<ContactRow, "status">): SkipReason | null {
  return BY_STATUS[status];
}
