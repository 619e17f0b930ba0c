import { contract } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { readFileSpec } from "../commands/send.ts";
import { listFields } from "./fields.ts";
import { readInstant } from "./values.ts";

const NOW = async (): Promise<number> => Date.parse("2030-01-01T00:00:00Z");
const at = (text: string): Promise<string> => readInstant("--at", text, NOW, "future", "Europe/Berlin");
const since = (text: string): Promise<string> => readInstant("--since", text, NOW, "past", "Europe/Berlin");

describe("instants", () => {
  test.each([
    ["in 10m", "2030-01-01T00:10:00.000Z"],
    ["in 1h 30m", "2030-01-01T01:30:00.000Z"],
    ["+2d", "2030-01-03T00:00:00.000Z"],
    ["now", "2030-01-01T00:00:00.000Z"],
    ["in 1 hour", "2030-01-01T01:00:00.000Z"],
    ["tomorrow 9am", "2030-01-02T08:00:00.000Z"],
    ["tomorrow at 9am UTC", "2030-01-02T09:00:00.000Z"],
    ["2030-02-01T09:30:00+02:00", "2030-02-01T09:30:00+02:00"],
  ])("%s is read", async (text, instant) => {
    expect(await at(text)).toBe(instant);
  });

  test.each(["soon", "2030-01-01", "2030-01-01T00:00:00", "in", "in 5", "in 999999999d"])("%s is refused by name", async (text) => {
    await expect(at(text)).rejects.toThrow("--at");
  });
});

describe("instants of the past", () => {
  test.each([
    ["1h", "2029-12-31T23:00:00.000Z"],
    ["1h30m", "2029-12-31T22:30:00.000Z"],
    ["1h ago", "2029-12-31T23:00:00.000Z"],
    ["2 days ago", "2029-12-30T00:00:00.000Z"],
    ["today", "2029-12-31T23:00:00.000Z"],
    ["yesterday", "2029-12-30T23:00:00.000Z"],
    ["2029-11-28", "2029-11-27T23:00:00.000Z"],
    ["2029-11-28T09:30:00Z", "2029-11-28T09:30:00Z"],
  ])("%s is read", async (text, instant) => {
    expect(await since(text)).toBe(instant);
  });

  test.each(["soon", "in 10m", "1x", "", "2029-02-30"])("%j is refused, with times of the past as advice", async (text) => {
    await expect(since(text)).rejects.toMatchObject({ failure: { message: expect.stringContaining("--since") } });
  });
  test("a date without a time is none to send at", async () => {
    await expect(at("2030-01-31")).rejects.toThrow('needs a time of day: "2030-01-31 09:30"');
    await expect(since("soon")).rejects.toMatchObject({ failure: { hint: expect.stringContaining("2 days ago") } });
  });
});

describe("files to attach", () => {
  test.each([
    ["a.pdf", { path: "a.pdf" }],
    ["a;b.pdf", { path: "a;b.pdf" }],
    ["a.pdf;name=Report.pdf", { path: "a.pdf", name: "Report.pdf" }],
    ["dir/a;cid=logo;type=image/png;name=n", { path: "dir/a", type: "image/png", name: "n", cid: "logo" }],
    ["t.txt;type=text/plain; charset=utf-8", { path: "t.txt", type: "text/plain; charset=utf-8" }],
  ])("%s", (text, spec) => {
    expect(readFileSpec(text)).toEqual(spec);
  });
});

test("fields are read off the contract", () => {
  const fields = listFields(contract.emails.send);
  expect(fields.map((f) => `${f.flag}:${f.kind}${f.required ? "!" : ""}`)).toEqual([
    "to:list!",
    "cc:list",
    "bcc:list",
    "together:boolean",
    "from:text!",
    "subject:text!",
    "html:text",
    "text:text",
    "reply-to:list",
    "header:map",
    "tag:map",
    "attachments:json",
    "ical-event:json",
    "scheduled-at:instant",
    "bypass-unsubscribe:boolean",
    "tracking:json",
  ]);
  expect(listFields(contract.emails.list).map((f) => f.kind)).toEqual([
    ...["number", "number", "text", "enum", "text", "text", "text", "instant", "instant", "enum"],
    ...["boolean", "text", "text", "text", "text", "text", "boolean"],
  ]);
});
