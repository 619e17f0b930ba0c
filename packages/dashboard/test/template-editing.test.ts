import type { TemplateDetail } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { toDraft } from "../src/parts/templates/draft.ts";
import { type EditState, meet, settle } from "../src/parts/templates/edit-state.ts";

const stored = (revision: number, subject: string, status = "ACTIVE"): TemplateDetail =>
  ({ name: "Welcome", revision, status, source: { subject, html: "<p>Hi</p>", text: null, variables: [] } }) as unknown as TemplateDetail;

const edit = (base: TemplateDetail, subject: string): EditState => ({
  base,
  draft: { ...toDraft(base), subject },
  theirs: null,
  edition: 0,
});

test("an answer that a saving has overtaken does not bring the older text back", () => {
  const saved = settle(edit(stored(1, "Old"), "New"), { ...toDraft(stored(1, "Old")), subject: "New" }, stored(2, "New"));
  expect(meet(saved, stored(1, "Old"))).toBe(saved);
  expect(saved).toMatchObject({ base: { revision: 2 }, draft: { subject: "New" }, theirs: null });
});

test("the own saving is not taken for that of somebody else, and a later one of theirs is", () => {
  const before = edit(stored(1, "Old"), "New");
  const met = meet(before, stored(2, "New"));
  expect(settle(met, before.draft, stored(2, "New")).theirs).toBeNull();
  const theirs = meet(before, stored(3, "Theirs"));
  expect(settle(theirs, before.draft, stored(2, "New")).theirs).toMatchObject({ revision: 3 });
});

test("what was not saved stays when the template is archived", () => {
  const before = edit(stored(1, "Old"), "New");
  const after = settle(before, toDraft(before.base), stored(2, "Old", "INACTIVE"));
  expect(after).toMatchObject({ base: { status: "INACTIVE" }, draft: { subject: "New" }, edition: 0 });
});
