import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { INVARIANTS } from "./invariants.ts";
import { MUTATIONS } from "./mutations.ts";
import { fileOf, mutate } from "./plant.ts";

test("the page of invariants says what the invariants say", async () => {
  const invariants = INVARIANTS.map(({ name, promise, says }) => [`### ${name}`, `**${promise}**`, ...says].join("\n\n"));
  const mutations = MUTATIONS.map(({ name, file, about }) => `| ${name} | \`${file}\` | ${about} |`);
  const page = `# Worlds

A world is a whole service that lives for a month within seconds: two workspaces that do the same under the same names, people who take mail
and people who do not, mail servers and webhooks that work and that fail, a clock that the world moves. A seed decides what is made in it and
what disturbs it while it is under way: pauses, crashes, restarts, restored data, edits, erasures, the change to summer time. Then everything
is put in order, four weeks pass, and the world must be as this page says.

\`npm run worlds\` lives through fresh worlds, \`npm run worlds -- --seed N\` through one; \`npm run proof -- worlds\` does so for hours. What a
failing world breaks is named by the words below, and the world is made as short as it can be and printed as a test, for
\`test/worlds/found.test.ts\`.

## Words

The [glossary](../../docs/glossary.md) has the words of the service. Besides:

| Word | Meaning |
| --- | --- |
| at rest | after the four weeks in which nothing disturbs the world any more |
| acknowledged | answered with success; a call whose server died before its answer is not, and may have been carried out or not |
| handed over | given to a mail server, whatever that answers; where mail is captured, stored as what its reader would have got |
| a no | an unsubscription, a complaint, or a suppression that somebody has added: to marketing, or to everything |
| way | the path of a mail from its place in the queue, where a server claims and renders it, to the mail server |
| seen from outside | read from answers, by the mail server or by a webhook of the world, and not from the database |

Some worlds cannot be held to all words. Where data was set back to an earlier state, what was seen from outside since then is no measure:
there \`refusals\`, \`once\`, \`arrives\`, \`still\`, \`webhooks\`, \`follows\` and \`audited\` are not judged, and of \`early\`, \`events\`,
\`content\` and \`keys\` only what the data itself tells. Where events or mail are deleted after some days, or a person was erased, words about
what these told are judged of the rest alone.

This page is written by \`npm run vitest -- test/worlds/words.test.ts -u\`.

## Invariants

${invariants.join("\n\n")}

## Mutations

Whether these words are enough is tried by faults that are planted into the server: \`npm run worlds -- --mutation NAME\`, or \`all\`, which
prints which of them fresh seeds find. One that is missed names what the words or the worlds lack.

| Mutation | File below \`packages/server/src\` | What the service does wrongly |
| --- | --- | --- |
${mutations.join("\n")}
`;
  await expect(page).toMatchFileSnapshot("README.md");
});

test.each(MUTATIONS)("the mutation $name changes a text that its file has once", (mutation) => {
  const source = readFileSync(fileOf(mutation), "utf8");
  expect(mutate(source, mutation)).not.toBe(source);
});

test("each mutation and each invariant has a name of its own, and words", () => {
  for (const names of [INVARIANTS, MUTATIONS].map((all) => all.map(({ name }) => name))) expect(new Set(names).size).toBe(names.length);
  for (const { promise, says } of INVARIANTS) expect([promise, ...says].every((text) => /^[A-Z].+\.$/s.test(text))).toBe(true);
  for (const { about } of MUTATIONS) expect(about).toMatch(/^[A-Z].+\.$/);
});
