export { holdDomain, listHolds, releaseDomain } from "./holds.ts";
export { requeueDeferred } from "./requeue.ts";
export type { MailTransform, PendingMail } from "./transform.ts";
