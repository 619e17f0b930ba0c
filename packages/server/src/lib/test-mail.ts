// The first of the 26 characters of an id made by `ids("em")` is 0 for the next thousand years, so no other email has this
// prefix.
const TEST_PREFIX = "em_t";

/**
 * The id of an email of a test key, made of a new id. It tells wherever the id is known that nothing may follow from the email outside of
 * itself, and costs other emails nothing: ids of test mail sort after all others, so that each index of emails holds them apart.
 */
export function toTestId(emailId: string): string {
  return TEST_PREFIX + emailId.slice(TEST_PREFIX.length);
}

/** The id that an email of a test key would have without it: it tells when the email was accepted. */
export function toPlainId(emailId: string): string {
  return isTestMail(emailId) ? `em_0${emailId.slice(TEST_PREFIX.length)}` : emailId;
}

/** True if the email with this id was sent with a test key. */
export function isTestMail(emailId: string | null | undefined): boolean {
  return emailId?.startsWith(TEST_PREFIX) === true;
}

/** A text between the ids of all other emails and those of test mail, for conditions on ids. */
export const TEST_MAIL_FROM = TEST_PREFIX;
