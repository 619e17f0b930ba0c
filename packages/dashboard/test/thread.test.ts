import type { Event } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { isOfThread, type Thread } from "../src/parts/received/thread.ts";

const thread = {
  opened: { threadId: "thr_1", from: "ada@example.com", replyTo: ["ada@example.com", "desk@example.com"] },
  mails: [{ at: "", ours: { id: "em_1" } }],
} as unknown as Thread;

const event = (type: string, about: Partial<Omit<Event, "data">> & { data?: object } = {}): Event =>
  ({ type, data: {}, emailId: null, to: null, ...about }) as Event;

test("a conversation is loaded again for its own mail, and for no other", () => {
  expect(isOfThread(event("email.received", { data: { threadId: "thr_1" } }), thread)).toBe(true);
  expect(isOfThread(event("email.delivered", { emailId: "em_1" }), thread)).toBe(true);
  expect(isOfThread(event("email.queued", { emailId: "em_2", to: "ada@example.com" }), thread)).toBe(true);
  expect(isOfThread(event("email.received", { data: { threadId: "thr_2" } }), thread)).toBe(false);
  expect(isOfThread(event("email.delivered", { emailId: "em_2", to: "grace@example.com" }), thread)).toBe(false);
  expect(isOfThread(event("email.queued", { emailId: "em_2", to: "grace@example.com" }), thread)).toBe(false);
  expect(isOfThread(event("contact.updated"), thread)).toBe(false);
  expect(isOfThread(event("email.received", { data: { threadId: "thr_1" } }), null)).toBe(false);
});
