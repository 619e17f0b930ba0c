export { type SubscriberList, type SubscriberLists, unsubscribe } from "./apply.ts";
export { getUnsubscribePrefix, makeUnsubscribeUrl, readUnsubscribeSubject, type Subscriber } from "./link.ts";
export { addUnsubscribe, makeUnsubscribeHeaders, offerUnsubscribe } from "./mails.ts";
export { unsubscribePages } from "./page.ts";
