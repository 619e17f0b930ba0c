import { TEMPLATE_LIMITS } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { formatShown } from "../src/parts/plural.ts";
import { countUsers, MOST_NAMED, mayBeMore, sortUsers, type TemplateUser } from "../src/parts/templates/template-user.ts";

const use = (kind: TemplateUser["kind"], status: string | null, id = `${kind} ${status}`): TemplateUser => ({
  ...{ id, name: id, kind, status },
  href: "/",
});

test("a list says that these are all only if they are", () => {
  const items = Array.from({ length: 1000 });
  expect(formatShown({ items, total: 1000, isMinimum: false })).toBe("1,000 in all");
  expect(formatShown({ items, total: 1000, isMinimum: true })).toBe("1,000 or more");
  expect(formatShown({ items, total: 2000, isMinimum: true })).toBe("1,000 of 2,000 or more");
  expect(formatShown({ items, total: 2000, isMinimum: false })).toBe("1,000 of 2,000");
  expect(formatShown({ items, total: null, isMinimum: false })).toBe("1,000");
});

test("those who use a template are counted as far as they are named", () => {
  expect(MOST_NAMED).toBe(TEMPLATE_LIMITS.usedBy);
  const drafts = Array.from({ length: MOST_NAMED }, (_, i) => use("campaign", "DRAFT", `${i}`));
  expect([countUsers(drafts), mayBeMore(drafts)]).toEqual([`${MOST_NAMED} or more`, true]);
  const mixed = [...drafts.slice(1), use("automation", "ACTIVE")];
  expect([countUsers(mixed), mayBeMore(mixed)]).toEqual([`${MOST_NAMED}`, false]);
});

test("the deletion of a template stops what has not started with it", () => {
  const users = ["DRAFT", "SCHEDULED", "SENDING", "PAUSED"].map((status) => use("campaign", status));
  const series = use("automation", "PAUSED");
  const { stopped, started } = sortUsers([...users, series]);
  expect(stopped).toEqual([...users.slice(0, 2), series]);
  expect(started).toEqual(users.slice(2));
});
