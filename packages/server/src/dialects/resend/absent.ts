import type { AbsentOperation } from "../operation.ts";

type Call = readonly [AbsentOperation["method"], AbsentOperation["path"]];

/** Operations of Resend's API that are not here, and the way to do the same. Commands name operations of the contract. */
export const ABSENT: readonly AbsentOperation[] = [
  ...list("An address for others to see one email is not here. A person can look at it in the dashboard: mailsvc open.", [
    ["POST", "/emails/:id/share"],
  ]),
  ...list("Numbers of all mail: GET /emails/metrics, or mailsvc metrics get.", [["GET", "/usage"]]),
  ...list("Domains belong to the workspace that verifies them first: mailsvc senders create, mailsvc senders verify ID.", [
    ["POST", "/domains/claim"],
    ["GET", "/domains/:id/claim"],
    ["POST", "/domains/:id/claim/verify"],
  ]),
  ...list("Other programs get a key instead of a grant: mailsvc keys create, mailsvc keys revoke ID.", [
    ["GET", "/oauth/grants"],
    ["DELETE", "/oauth/grants/:id"],
  ]),
  ...list("Received mail has conversations and answers: mailsvc received list, mailsvc received reply ID.", [
    ["POST", "/inboxes"],
    ["GET", "/inboxes"],
    ["GET", "/inboxes/:id"],
    ["PATCH", "/inboxes/:id"],
    ["DELETE", "/inboxes/:id"],
    ["GET", "/inboxes/:id/agent"],
    ["PATCH", "/inboxes/:id/agent"],
    ["POST", "/inboxes/:id/:part"],
    ["GET", "/inboxes/:id/:part"],
    ["GET", "/inboxes/:id/:part/:other"],
    ["PATCH", "/inboxes/:id/:part/:other"],
    ["DELETE", "/inboxes/:id/:part/:other"],
    ["POST", "/inboxes/:id/drafts/:other/send"],
    ["GET", "/inboxes/:id/threads/:other/emails"],
    ["GET", "/inboxes/:id/threads/:other/emails/:email"],
    ["POST", "/inboxes/:id/threads/:other/emails/:email/reply"],
    ["POST", "/inboxes/:id/threads/:other/emails/:email/forward"],
    ["POST", "/inboxes/:id/threads/:other/labels"],
    ["PUT", "/inboxes/:id/threads/:other/labels"],
    ["DELETE", "/inboxes/:id/threads/:other/labels/:label"],
  ]),
];

function list(instead: string, calls: readonly Call[]): AbsentOperation[] {
  return calls.map(([method, path]) => ({ method, path, instead }));
}
