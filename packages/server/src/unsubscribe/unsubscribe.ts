export { type SubscriberLists, unsubscribe } from "./apply.ts";
export { makeUnsubscribeUrl, readUnsubscribeSubject } from "./link.ts";
export { addUnsubscribe, makeUnsubscribeHeaders, offerUnsubscribe } from "./mails.ts";
export { unsubscribePages } from "./page.ts";
