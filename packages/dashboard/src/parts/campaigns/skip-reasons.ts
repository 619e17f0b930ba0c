import type { SkipReason } from "@mailsvc/sdk/contract";

/** Reasons for skipping a recipient, worded to follow “skipped:”. */
export const SKIP_REASONS: Readonly<Record<SkipReason, string>> = {
  unsubscribed: "had unsubscribed",
  bounced: "had bounced before",
  complained: "had complained",
  suppressed: "on the suppression list",
  invalid: "an address that cannot get mail",
  deleted: "deleted meanwhile",
  duplicate: "the address of another recipient",
  left_list: "left the lists of the campaign",
  missing_variables: "without a variable that the template needs",
  replied: "had answered",
};
