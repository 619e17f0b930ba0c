import { TEMPLATE_LIMITS } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { formatShown } from "../src/parts/plural.ts";
import { countUsers, MOST_NAMED, mayBeMore, sortUsers, type TemplateUser } from "../src/parts/templates/template-user.ts";

const use = (
  kind: TemplateUser["kind"],
  status: string | null,
  id = `${kind} ${status}`,
  startedAt: string | null = null,
): TemplateUser => ({
  ...{ id, name: id, kind, status, startedAt },
  href: "/",
});

test("a list says that these are all only if they are", () => {
  const items = Array.from({ length: 1000 });
  expect(formatShown({ items, total: 1000, isMinimum: false })).toBe("1,000 in all");
  expect(formatShown({ items, total: 1000, isMinimum: true })).toBe("1,000+");
  expect(formatShown({ items, total: 2000, isMinimum: true })).toBe("1,000 of 2,000+");
  expect(formatShown({ items, total: 2000, isMinimum: false })).toBe("1,000 of 2,000");
  expect(formatShown({ items, total: null, isMinimum: false })).toBe("1,000");
});

test("those who use a template are counted as far as they are named", () => {
  expect(MOST_NAMED).toBe(TEMPLATE_LIMITS.usedBy);
  const drafts = Array.from({ length: MOST_NAMED }, (_, i) => use("campaign", "DRAFT", `${i}`));
  expect([countUsers(drafts), mayBeMore(drafts)]).toEqual([`${MOST_NAMED}+`, true]);
  const mixed = [...drafts.slice(1), use("automation", "ACTIVE")];
  expect([countUsers(mixed), mayBeMore(mixed)]).toEqual([`${MOST_NAMED}`, false]);
});

test("the deletion of a template stops what has not started with it", () => {
  // A campaign may be held before it starts, too.
  const waiting = [...["DRAFT", "SCHEDULED", "PAUSED"].map((status) => use("campaign", status)), use("automation", "PAUSED")];
  const sending = ["SENDING", "PAUSED"].map((status) => use("campaign", status, `started ${status}`, "2026-05-01T09:00:00.000Z"));
  expect(sortUsers([...waiting, ...sending])).toEqual({ stopped: waiting, started: sending });
});
