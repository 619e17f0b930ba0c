import { type Contract, contract, type Endpoint } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { buildOpenApi } from "./openapi.ts";
import { listDeprecationHeaders } from "./serve-requests.ts";

const ending: Endpoint = {
  ...contract.emails.list,
  deprecated: { since: "2027-03-01", sunset: "2028-03-01", instead: "Use emails.find." },
};

test("the answers of an operation that will be gone say since when and until when", () => {
  expect(listDeprecationHeaders(ending)).toEqual([
    ["deprecation", "@1803859200"],
    ["sunset", "Wed, 01 Mar 2028 00:00:00 GMT"],
  ]);
  expect(listDeprecationHeaders(contract.emails.list)).toEqual([]);
});

test("the document marks it, and says what replaces it", () => {
  const { paths } = buildOpenApi({ ...contract, emails: { ...contract.emails, list: ending } } as Contract) as {
    paths: Record<string, Record<string, { deprecated?: boolean; description: string }>>;
  };
  const { get, post } = paths[ending.path] ?? {};
  expect(get).toMatchObject({
    deprecated: true,
    description: expect.stringMatching(/^Deprecated since 2027-03-01, gone from 2028-03-01\. Use emails\.find\./),
  });
  expect(post?.deprecated).toBeUndefined();
});
