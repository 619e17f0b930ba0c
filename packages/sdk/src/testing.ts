export { connectLocal, type LocalOptions, type LocalServer, startLocal } from "./testing/local-server.ts";
export { describeMails, type MailFilter, type TestInbox, type TestMail, toTestMail } from "./testing/mail.ts";
export { type MailMatchers, type SentMail, toHaveSent } from "./testing/to-have-sent.ts";
