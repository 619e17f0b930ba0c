import type { SkipReason } from "@mailsvc/sdk/contract";
import { joinSentences, quote } from "../lib/explanation.ts";
import type { SuppressionRow } from "../suppressions/suppressions.ts";

const REASONS: Readonly<Record<SuppressionRow["reason"], string>> = {
  bounce: "An email to it was refused because the mailbox does not work.",
  complaint: "The recipient reported an email as spam.",
  unsubscribe: "The recipient unsubscribed.",
  manual: "It was suppressed on request.",
};

const SOURCES: Readonly<Record<SuppressionRow["source"], string | null>> = {
  api: "That came through the API or the dashboard.",
  import: "An import did it.",
  bounce: null,
  complaint: null,
  unsubscribe: null,
};

/** Explains why an address gets no mail, or no marketing. */
export function describeSuppression({ reason, scope, source, emailId, note, unsubscribedAt }: SuppressionRow): string {
  return joinSentences(
    REASONS[reason],
    SOURCES[source],
    emailId === null ? null : `The email was ${emailId}.`,
    scope === "all" ? "No mail goes to it." : "Only transactional mail with bypassUnsubscribe goes to it.",
    unsubscribedAt !== null && reason !== "unsubscribe" ? "The recipient has unsubscribed besides." : null,
    note && `Note: ${quote(note)}.`,
  );
}

/** Reasons a contact gets nothing of a campaign or an automation, as sentences. */
export const SKIPPED: Readonly<Record<SkipReason, string>> = {
  unsubscribed: "The contact has unsubscribed.",
  bounced: "An earlier email to the contact bounced.",
  complained: "The contact reported an earlier email as spam.",
  suppressed: "The address is on the suppression list.",
  invalid: "Mail to this address cannot be sent.",
  deleted: "The contact was deleted before its turn came.",
  duplicate: "Another recipient of the campaign has the same address.",
  left_list: "The contact left the lists of the campaign before its mail went out.",
  missing_variables: "The template needs a variable that the contact does not have.",
  replied: "The contact has answered, which ends the automation.",
};
