export { domainOf, holdDomain, listHolds, releaseDomain } from "./holds.ts";
export type { Choice, Mailers } from "./mailers.ts";
export { requeueDeferred } from "./requeue.ts";
export type { MailLane } from "./slots.ts";
export { captureTestMail } from "./test-mail.ts";
export type { PendingMail } from "./transform.ts";
