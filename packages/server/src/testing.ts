export { type MailFilter, type MailMatchers, type SentMail, type TestInbox, type TestMail, toHaveSent } from "@mailsvc/sdk/testing";
export type { EventWanted, TestEvents } from "./testing/events.ts";
export { createWorld, type TestAnswer, type TestWorld, type WorkspaceClient, type WorldOptions } from "./testing/world.ts";
