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
