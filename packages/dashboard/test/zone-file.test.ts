import { expect, test } from "vitest";
import { toZoneFile } from "../src/parts/zone-file.ts";

test("records become lines of a zone file, each once, without those of another zone", () => {
  const spf = { type: "TXT", name: "acme.example", value: "v=spf1 include:relay.example -all" };
  const records = [
    spf,
    spf,
    { type: "MX", name: "in.acme.example", value: "10 mx.acme.example" },
    { type: "PTR", name: "1.2.0.192.in-addr.arpa", value: "mx.acme.example" },
  ];
  expect(toZoneFile(records)).toBe(
    'acme.example. 3600 IN TXT "v=spf1 include:relay.example -all"\nin.acme.example. 3600 IN MX 10 mx.acme.example.',
  );
  expect(toZoneFile([])).toBe("");
});

test("a long text is split into strings of 255 bytes, and quotes and other bytes are escaped", () => {
  const key = `v=DKIM1; p=${"A".repeat(400)}`;
  const line = toZoneFile([{ type: "TXT", name: "k._domainkey.acme.example", value: key }]);
  const strings = [...line.matchAll(/"([^"]*)"/g)].map(([, text = ""]) => text);
  expect(strings.map(({ length }) => length)).toEqual([255, key.length - 255]);
  expect(strings.join("")).toBe(key);
  expect(toZoneFile([{ type: "TXT", name: "a.example", value: 'say "hü\\' }])).toBe('a.example. 3600 IN TXT "say \\"h\\195\\188\\\\"');
});
