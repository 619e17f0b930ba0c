export { holdDomain, listHolds, releaseDomain } from "./holds.ts";
export { type Choice, type Mailers, singleMailer } from "./mailers.ts";
export { requeueDeferred } from "./requeue.ts";
export { captureTestMail } from "./test-mail.ts";
export type { MailTransform, PendingMail } from "./transform.ts";
