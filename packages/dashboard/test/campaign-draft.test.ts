import type { CampaignDetail } from "@mailsvc/sdk/contract";
import { afterEach, expect, test, vi } from "vitest";
import { CampaignDraft } from "../src/parts/campaigns/draft.ts";

const CAMPAIGN = { id: "cmp_1", revision: 1, name: "News", subjectLine: "Old", fromEmail: "news@acme.example" } as CampaignDetail;

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("what a busy server has refused is saved later, without another key", async () => {
  vi.useFakeTimers();
  let busy = true;
  vi.stubGlobal("fetch", async (_: string, { body }: { body: string }) =>
    busy
      ? Response.json({ error: { code: "server_busy", message: "Busy." } }, { status: 503 })
      : Response.json({ ...CAMPAIGN, ...(JSON.parse(body) as Partial<CampaignDetail>) }),
  );
  const draft = new CampaignDraft(CAMPAIGN);
  draft.set({ subjectLine: "New" });
  expect(await draft.flush()).toBe(false);
  busy = false;
  // Not all timers: earlier tests in the same process may have left some that are set again for ever.
  await vi.advanceTimersByTimeAsync(5000);
  await vi.waitFor(() => expect(draft.state.value).toBe("saved"), { timeout: 10_000 });
  expect(draft.saved.value.subjectLine).toBe("New");
});

test("what is typed while a refused saving is under way is saved after it, and what was refused stays to be corrected", async () => {
  const sent: object[] = [];
  let refuse: () => void = () => {};
  vi.stubGlobal("fetch", async (_: string, { body }: { body: string }) => {
    const fields = JSON.parse(body) as Partial<CampaignDetail>;
    sent.push(fields);
    if (fields.fromEmail === undefined) return Response.json({ ...CAMPAIGN, ...fields });
    if (sent.length === 1) await new Promise<void>((resolve) => (refuse = resolve));
    const details = [{ path: "fromEmail", code: "invalid", message: "fromEmail: This is no address." }];
    return Response.json({ error: { code: "validation_error", message: "Not right.", details } }, { status: 400 });
  });
  const draft = new CampaignDraft(CAMPAIGN);
  draft.set({ fromEmail: "nobody" });
  const first = draft.flush();
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  draft.set({ subjectLine: "New" });
  const second = draft.flush();
  refuse();
  expect(await first).toBe(false);
  expect(await second).toBe(false);
  expect(draft.saved.value.subjectLine).toBe("New");
  expect(draft.fields.value.fromEmail).toBe("nobody");
  expect(draft.error.value?.details).toMatchObject([{ path: "fromEmail" }]);
  expect(sent.at(-1)).toEqual({ subjectLine: "New", revision: 1 });
});

/** A server on which a colleague has changed the campaign meanwhile. */
function changeMeanwhile(theirs: Partial<CampaignDetail>) {
  let stored = { ...CAMPAIGN, ...theirs, revision: 2 };
  vi.stubGlobal("fetch", async (_: string, { method, body }: { method: string; body: string }) => {
    if (method === "GET") return Response.json(stored);
    const { revision, ...fields } = JSON.parse(body) as Partial<CampaignDetail>;
    const details = [{ path: "revision", code: "outdated", message: "The current revision is 2." }];
    if (revision !== stored.revision) return Response.json({ error: { code: "conflict", message: "Changed.", details } }, { status: 409 });
    stored = { ...stored, ...fields, revision: stored.revision + 1 };
    return Response.json(stored);
  });
  return { read: () => stored };
}

test("what a colleague has changed meanwhile stays, where the person has changed something else", async () => {
  const server = changeMeanwhile({ name: "Theirs", fromName: "Acme" });
  const draft = new CampaignDraft(CAMPAIGN);
  draft.set({ subjectLine: "Mine" });
  expect(await draft.flush()).toBe(true);
  expect(draft.theirs.value).toBeNull();
  expect(server.read()).toMatchObject({ name: "Theirs", fromName: "Acme", subjectLine: "Mine" });
  expect(draft.fields.value).toMatchObject({ name: "Theirs", subjectLine: "Mine" });
});

test.each([
  ["takeTheirs", { html: "Theirs", name: "Mine" }],
  ["keepMine", { templateId: "tpl_1", html: null, name: "Mine" }],
] as const)("of what both have changed nothing is saved before the person has decided: %s", async (decide, expected) => {
  const server = changeMeanwhile({ html: "Theirs" });
  const draft = new CampaignDraft(CAMPAIGN);
  draft.set({ templateId: "tpl_1", html: null, name: "Mine" });
  expect(await draft.flush()).toBe(false);
  expect(draft.state.value).toBe("refused");
  expect([...draft.disputed]).toEqual(["content"]);
  expect(await draft.flush()).toBe(false);
  expect(server.read()).toMatchObject({ html: "Theirs", name: "News", revision: 2 });
  await draft[decide]();
  expect(draft.theirs.value).toBeNull();
  expect(draft.state.value).toBe("saved");
  expect(server.read()).toMatchObject(expected);
});
