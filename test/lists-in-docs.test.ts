import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CONTACT_TEXT_FIELDS } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";

// What the documentation says about things of which the contract has a list.

const read = (page: string) => readFileSync(fileURLToPath(new URL(`../${page}`, import.meta.url)), "utf8");

test.each(["docs/audience.md", "docs/campaigns.md", "docs/importing.md"])("%s names each text field of contacts", (page) => {
  const text = read(page);
  expect(CONTACT_TEXT_FIELDS.filter((field) => !text.includes(`\`${field}\``))).toEqual([]);
});
