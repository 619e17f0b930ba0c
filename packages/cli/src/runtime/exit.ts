import { ERRORS, type ErrorCode } from "@mailsvc/sdk/contract/facts";

/** Exit codes. Each has one meaning, so that a script does not have to parse messages. */
export const EXIT = {
  ok: 0,
  differs: 1,
  usage: 2,
  validation: 3,
  auth: 4,
  forbidden: 5,
  notFound: 6,
  conflict: 7,
  rateLimit: 8,
  server: 9,
  network: 10,
  partial: 11,
  undelivered: 12,
  unfiltered: 13,
  internal: 70,
  output: 74,
  notExecutable: 126,
  notStarted: 127,
  cancelled: 130,
} as const;
export type Exit = (typeof EXIT)[keyof typeof EXIT];

/** The meaning of each exit code, for `mailsvc errors` and the documentation. */
export const EXIT_MEANING: Record<Exit, string> = {
  0: "done",
  1: "differences were found (templates diff, automations diff), mail that was not expected (inbox expect-none), or errors (lint)",
  2: "wrong usage: unknown command or flag, missing input",
  3: "the input was refused as invalid",
  4: "no key, or not a valid one",
  5: "the key may not do this",
  6: "not found",
  7: "conflicts with the current state",
  8: "rate limit",
  9: "the server failed",
  10: "the server or its database was not reached, or did not answer in time; also after the message Accepted, with its id on stdout (send --wait)",
  11: "partial failure: some items failed, a check found a fault (doctor, relays test), or a sender is not verified yet",
  12: "the email was not delivered (send --wait)",
  13: "done, but the expression of --jq does not fit a document, which is printed whole",
  70: "a bug in this program",
  74: "the output could not be written, such as to a full disk; a message says so if something was done before",
  126: "the command after -- was found and may not be executed (dev)",
  127: "the command after -- could not be started (dev)",
  130: "cancelled",
};

/** The exit code for an HTTP status other than 2xx. */
export function getStatusExit(status: number): Exit {
  if (status === 401) return EXIT.auth;
  if (status === 402 || status === 403) return EXIT.forbidden;
  if (status === 404 || status === 405) return EXIT.notFound;
  if (status === 409 || status === 412) return EXIT.conflict;
  if (status === 429) return EXIT.rateLimit;
  return status >= 500 ? EXIT.server : EXIT.validation;
}

/** The exit code for an error code of the API. */
export function getCodeExit(code: ErrorCode): Exit {
  return getStatusExit(ERRORS[code].status);
}
