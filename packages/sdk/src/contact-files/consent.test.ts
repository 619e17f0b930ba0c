import { describe, expect, test } from "vitest";
import { createColumnResolver, mapColumns } from "./columns.ts";
import { readConsent, readConsentName } from "./consent.ts";
import { parseCsv } from "./csv.ts";
import { CONTACT_COLUMNS } from "./file-columns.ts";
import { parseNdjson } from "./ndjson.ts";
import { createObjectReader, createTableReader, type Row } from "./rows.ts";

const FLAGS = { types: new Set<never>(), guarded: true, defaults: {} };
const resolver = createColumnResolver(CONTACT_COLUMNS, { map: [], keepCustom: true });

async function readCsv(text: string): Promise<Row[]> {
  const records = [];
  for await (const some of parseCsv(pieces(text), ",")) records.push(...some);
  const [header, ...rows] = records;
  const names = header?.cells ?? [];
  const targets = mapColumns(
    resolver,
    names,
    rows.map(({ cells }) => cells),
  );
  expect(targets.filter(({ to }) => to === "unclear")).toEqual([]);
  return rows.map(createTableReader(CONTACT_COLUMNS, names, targets, FLAGS));
}

async function* pieces(text: string): AsyncGenerator<string> {
  yield text;
}

/** Result of each row: the status it gives, `new: …` for one that only new contacts get, or the code of its fault. */
async function statuses(text: string): Promise<string[]> {
  return (await readCsv(text)).map(({ value, faults }) =>
    faults.length > 0
      ? String(faults[0]?.code)
      : String(value["status"] ?? (value["initialStatus"] === undefined ? "none" : `new: ${value["initialStatus"]}`)),
  );
}

describe("names of columns say who opted out, in twelve languages", () => {
  test.each([
    ...[
      "unsubscribed",
      "Email Opt Out",
      "HasOptedOutOfEmail",
      "opted_out",
      "unsubscribed_at",
      "do_not_contact",
      "Unsubscribed from all email",
    ],
    ...[
      "emailBlacklisted",
      "EMAIL_BLOCKLISTED",
      "UNSUB_TIME",
      "Do not allow Bulk Emails",
      "email_disabled",
      "consent withdrawn",
      "not_subscribed",
    ],
    ...["isNotSubscribed", "no_consent", "nonsubscribed", "Opted out of email: Newsletter", "Marked email as spam", "global_unsubscribe"],
    ...[
      "Abgemeldet am",
      "Newsletter abgemeldet",
      "Keine Werbung",
      "Einwilligung widerrufen",
      "Désabonné",
      "Désinscrit le",
      "Ne pas contacter",
    ],
    ...[
      "Dado de baja",
      "Fecha de baja",
      "No contactar",
      "Disiscritto",
      "Revoca consenso",
      "Descadastrado",
      "Não contatar",
      "Uitgeschreven",
    ],
    ...[
      "Niet mailen",
      "Wypisany",
      "Cofnięcie zgody",
      "Avregistrerad",
      "Frameldt",
      "Avmeldt",
      "配信停止",
      "退会日",
      "Отписан",
      "Дата отписки",
    ],
  ])("%s", (name) => expect(readConsentName(name)).toBe("opt-out"));
});

describe("names of columns say who opted in", () => {
  test.each([
    ...[
      "opt_in",
      "Accepts Marketing",
      "Accepts Email Marketing",
      "email_marketing_consent",
      "OPTIN_TIME",
      "subscribed_to_emails",
      "Newsletter",
    ],
    ...[
      "Email permission status",
      "DOUBLE_OPT-IN",
      "GDPR Consent",
      "Werbeeinwilligung",
      "Einwilligung",
      "Consentement",
      "Abonné",
      "Suscrito",
    ],
    ...[
      "Consenso marketing",
      "Iscritto",
      "Inscrito",
      "Toestemming",
      "Zgoda marketingowa",
      "Samtycke",
      "Samtykke",
      "Tilmeldt",
      "メール配信同意",
    ],
    ...["Согласие на рассылку", "Подписан", "Subscribed"],
  ])("%s", (name) => expect(readConsentName(name)).toBe("opt-in"));
});

test("names that may mean either are unclear, and those of other channels, links and figures are about something else", () => {
  for (const name of ["Opt-in/Opt-out", "not unsubscribed", "newsletter_weekly", "gdpr", "active", "deleted_at", "Marketing"])
    expect([name, readConsentName(name)]).toEqual([name, "unclear"]);
  for (const name of [
    "SMS Marketing Consent",
    "DoNotCall",
    "HasOptedOutOfFax",
    "Telefono contacto",
    "unsubscribe_url",
    "OPTIN_IP",
    "Consent to track",
  ])
    expect([name, readConsentName(name)]).toEqual([name, "other"]);
  for (const name of ["company", "Order status", "created_at", "Marketing emails opened", "Nachname", "city"])
    expect([name, readConsentName(name)]).toEqual([name, null]);
});

test("cells say yes, no, a time or nothing, in twelve languages", () => {
  const yes = ["yes", "TRUE", "1", "x", "✓", "Ja", "oui", "Sí", "sim", "tak", "はい", "Да", "on", "Yes, please", "1.0"];
  const no = ["no", "FALSE", "0", "Nein", "non", "não", "nee", "Nie", "nej", "いいえ", "Нет", "off", "No, thanks", "0.0"];
  const times = [
    "2024-05-01",
    "2024-05-01T10:00:00Z",
    "5/1/24",
    "01.05.2024 10:00",
    "May 1, 2024",
    "1. Mai 2024",
    "2024年5月1日",
    "1714550400",
    "45413.5",
  ];
  for (const cell of [...yes, ...times]) {
    expect([cell, readConsent("opt-out", cell)]).toEqual([cell, "out"]);
    expect([cell, readConsent("opt-in", cell)]).toEqual([cell, "in"]);
  }
  for (const cell of no) {
    expect([cell, readConsent("opt-out", cell)]).toEqual([cell, null]);
    expect([cell, readConsent("opt-in", cell)]).toEqual([cell, "out"]);
  }
  for (const cell of ["", " ", "NULL", "n/a", "-", "0000-00-00 00:00:00", "[]", "1970-01-01T00:00:00Z"]) {
    expect([cell, readConsent("opt-out", cell)]).toEqual([cell, null]);
    expect([cell, readConsent("opt-in", cell)]).toEqual([cell, "absent"]);
  }
  for (const cell of ["maybe", "12", "weekly"]) {
    expect([cell, readConsent("opt-out", cell)]).toEqual([cell, undefined]);
    expect([cell, readConsent("opt-in", cell)]).toEqual([cell, undefined]);
  }
});

describe("exports of other services never subscribe who said no", () => {
  test.each([
    ["Resend", "email,first_name,unsubscribed\na@x.test,Ada,true\nb@x.test,Bob,false", ["UNSUBSCRIBED", "none"]],
    ["Salesforce", "Email,FirstName,Phone,Mobile,HasOptedOutOfEmail\na@x.test,Ada,,+1,1\nb@x.test,Bob,+2,+3,0", ["UNSUBSCRIBED", "none"]],
    [
      "HubSpot",
      "Email,Unsubscribed from all email,Opted out of email: Marketing Information,Marketing contact status\na@x.test,,Yes,Marketing contact\nb@x.test,No,,Marketing contact\nc@x.test,,,Non-marketing contact",
      ["UNSUBSCRIBED", "SUBSCRIBED", "UNSUBSCRIBED"],
    ],
    [
      "Mailchimp",
      "Email Address,OPTIN_TIME,CONFIRM_TIME,UNSUB_TIME,UNSUB_REASON\na@x.test,,2020-01-01 10:00:00,,\nb@x.test,,2020-01-01 10:00:00,2021-01-01 10:00:00,NORMAL",
      ["SUBSCRIBED", "UNSUBSCRIBED"],
    ],
    [
      "Klaviyo",
      "Email,Email Marketing Consent,SMS Marketing Consent,Email Suppressions\na@x.test,SUBSCRIBED,NEVER_SUBSCRIBED,[]\nb@x.test,NEVER_SUBSCRIBED,,[]\nc@x.test,SUBSCRIBED,,[HARD_BOUNCE]\nd@x.test,,,",
      ["SUBSCRIBED", "UNSUBSCRIBED", "UNSUBSCRIBED", "new: UNSUBSCRIBED"],
    ],
    ["Shopify", "Email,Accepts Email Marketing,Accepts SMS Marketing\na@x.test,yes,no\nb@x.test,no,yes", ["SUBSCRIBED", "UNSUBSCRIBED"]],
    ["Brevo", "EMAIL,NOM,emailBlacklisted,smsBlacklisted\na@x.test,A,true,false\nb@x.test,B,false,true", ["UNSUBSCRIBED", "none"]],
    ["Substack", "Email,Email disabled\na@x.test,true\nb@x.test,false", ["UNSUBSCRIBED", "none"]],
    ["Ghost", "email,name,subscribed_to_emails\na@x.test,A,true\nb@x.test,B,false", ["SUBSCRIBED", "UNSUBSCRIBED"]],
    [
      "Zoho",
      "Email,Email Opt Out,Unsubscribed Mode,Unsubscribed Time\na@x.test,false,,\nb@x.test,false,Manual,2024-01-01",
      ["none", "UNSUBSCRIBED"],
    ],
    ["Dynamics", "E-Mail-Adresse,Do not allow Bulk Emails\na@x.test,Allow\nb@x.test,Do Not Allow", ["none", "UNSUBSCRIBED"]],
    [
      "two that contradict each other",
      "email,status,opt_in\na@x.test,active,no\nb@x.test,unsubscribed,yes",
      ["UNSUBSCRIBED", "UNSUBSCRIBED"],
    ],
    ["words nobody knows", "email,opted_out\na@x.test,yes\nb@x.test,perhaps", ["UNSUBSCRIBED", "unclear_consent"]],
  ])("%s", async (_, text, expected) => expect(await statuses(text)).toEqual(expected));

  test("objects are read by the same names, also in attributes", async () => {
    const read = createObjectReader(CONTACT_COLUMNS, resolver, FLAGS);
    const rows: Row[] = [];
    const lines = [
      { email: "a@x.test", unsubscribed: true },
      { email: "b@x.test", unsubscribed: false },
      { email: "c@x.test", attributes: { opt_in: false } },
      { email: "d@x.test", properties: { unsubscribed: true } },
      { email: "e@x.test", type: "unsubscribed" },
    ];
    for await (const records of parseNdjson(pieces(lines.map((line) => JSON.stringify(line)).join("\n")))) rows.push(...records.map(read));
    expect(rows.map(({ value, faults }) => faults[0]?.code ?? value["status"] ?? "none")).toEqual([
      "UNSUBSCRIBED",
      "none",
      "UNSUBSCRIBED",
      "unclear_consent",
      "unclear_consent",
    ]);
  });
});

test("a tag that says plainly that mail is not wanted is a no, unless somebody said that the column has tags", async () => {
  const file = 'email,tags,status\na@x.test,vip; Unsubscribed,\nb@x.test,opt-out,SUBSCRIBED\nc@x.test,"vip, unsubscribed users",\n';
  const rows = await readCsv(file);
  expect(rows.map(({ value, faults }) => [value["status"], faults])).toEqual([
    ["UNSUBSCRIBED", []],
    ["UNSUBSCRIBED", []],
    [undefined, []],
  ]);
  expect(rows[0]?.value["tags"]).toEqual(["vip", "Unsubscribed"]);
});

test("of two columns of one field the first that is not empty counts, and tags are put together", async () => {
  const rows = await readCsv("email,Phone,Mobile,Tags,Labels\na@x.test,,+1,vip,* myContacts ::: Friends\nb@x.test,+2,+3,,");
  expect(rows.map(({ value }) => [value["phone"], value["tags"]])).toEqual([
    ["+1", ["vip", "Friends"]],
    ["+2", undefined],
  ]);
});
