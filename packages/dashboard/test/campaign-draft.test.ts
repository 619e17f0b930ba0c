import type { CampaignDetail } from "@mailsvc/sdk/contract";
import { afterEach, expect, test, vi } from "vitest";
import { CampaignDraft } from "../src/parts/campaigns/draft.ts";

const CAMPAIGN = { id: "cmp_1", name: "News", subjectLine: "Old", fromEmail: "news@acme.example" } as CampaignDetail;

afterEach(() => vi.unstubAllGlobals());

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
  expect(sent.at(-1)).toEqual({ subjectLine: "New" });
});
