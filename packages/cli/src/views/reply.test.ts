import { expect, test } from "vitest";
import { formatReply } from "./reply.ts";

test("a reply has each of its codes once", () => {
  expect(formatReply("550 5.1.1 No such user here", [550, "5.1.1"])).toBe("550 5.1.1 No such user here");
  expect(formatReply("No such user here", [550, "5.1.1"])).toBe("550 5.1.1 No such user here");
  expect(formatReply("550 mailbox 15.1.1 unknown", [550, "5.1.1"])).toBe("5.1.1 550 mailbox 15.1.1 unknown");
  expect(formatReply("The mailer is closed.", [null, null])).toBe("The mailer is closed.");
});
