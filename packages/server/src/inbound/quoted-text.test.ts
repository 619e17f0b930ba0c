import { expect, test } from "vitest";
import { toPlainText } from "../html/plain-text.ts";
import { cutQuotedHtml, cutQuotedText } from "./quoted-text.ts";

const lines = (...all: string[]): string => all.join("\r\n");

test.each([
  [
    "Gmail",
    lines("Yes.", "", "On Sat, Jan 31, 2026 at 9:30 AM Acme <", "hello@acme.example> wrote:", "", "> How are you?", "> ", "> Acme"),
  ],
  ["Gmail in German", lines("Yes.", "", "Am Sa., 31. Jan. 2026 um 09:30 Uhr schrieb Acme <hello@acme.example>:", "> Wie geht es?")],
  ["Gmail in French", lines("Yes.", "", "Le sam. 31 janv. 2026 à 09:30, Acme <hello@acme.example> a écrit :", "", "> Ça va ?")],
  ["Gmail in Spanish", lines("Yes.", "", "El sáb, 31 ene 2026 a las 9:30, Acme (<hello@acme.example>) escribió:", "> Hola")],
  ["Gmail in Italian", lines("Yes.", "", "Il giorno sab 31 gen 2026 alle ore 09:30 Acme <hello@acme.example> ha scritto:", "> Ciao")],
  ["Gmail in Japanese", lines("Yes.", "", "2026年1月31日(土) 9:30 Acme <hello@acme.example>:", "", "> こんにちは")],
  [
    "Yahoo, without >",
    lines("Yes.", "", "On Saturday, January 31, 2026 at 9:30 AM, Acme <hello@acme.example> wrote:", "", "How are you?", "Acme"),
  ],
  ["Outlook", lines("Yes.", "", "-----Original Message-----", "From: Acme <hello@acme.example>", "Sent: Saturday", "How are you?")],
  ["Outlook in German", lines("Yes.", "", "-----Ursprüngliche Nachricht-----", "Von: Acme", "Wie geht es?")],
  [
    "Outlook on the web",
    lines("Yes.", "", "________________________________", "From: Acme <a@b>", "Sent: Saturday", "To: Ada", "Subject: Hi", "", "Hi"),
  ],
  [
    "Outlook in French, without a rule",
    lines("Yes.", "", "De : Acme <a@b>", "Envoyé : samedi 31 janvier", "À : Ada", "Objet : Hi", "", "Ça va ?"),
  ],
  ["mailx, without a date", lines("Yes.", "", "Acme <hello@acme.example> wrote:", "", "> How are you?")],
  ["Gnus", lines("Yes.", "", "Acme <hello@acme.example> writes:", "> How are you?")],
  ["S-nail", lines("Yes.", "", "Acme <hello@acme.example> wrote in", " <em_1@acme.example>:", " |How are you?", " |Acme")],
  ["Apple Mail", lines("Yes.", "", "> On Jan 31, 2026, at 09:30, Acme <hello@acme.example> wrote:", "> ", "> How are you?")],
])("what %s puts under an answer is cut off", (_program, text) => expect(cutQuotedText(text)).toBe("Yes."));

test("answers between quoted lines are kept", () => {
  const text = lines("On Sat, Jan 31, 2026 Acme wrote:", "> Tea?", "Yes.", "> Milk?", "No.");
  expect(cutQuotedText(text)).toBe("Yes.\nNo.");
});

test.each([
  "On Monday I wrote:\nthree letters",
  "From: the bottom of my heart\nthanks",
  "I am on it.\n\nDe : nada",
  "The list: -- one -- two",
  "Bob <bob@example.com> wrote:\nthat is all I know",
  "This is what she wrote in\n<a@b.example>:\nnothing",
])("what only looks like a quotation is kept: %j", (text) => expect(cutQuotedText(text)).toBe(text));

test.each([
  [
    "Gmail",
    '<div>Yes.</div><div class="gmail_quote gmail_quote_container"><div>On Sat, Acme wrote:</div><blockquote>Tea?</blockquote></div>',
  ],
  ["Outlook", '<p>Yes.</p><div id="appendonsend"></div><hr><div id="divRplyFwdMsg"><b>From:</b> Acme</div><div>Tea?</div>'],
  ["Outlook for Windows", '<p>Yes.</p><div style="border:none;border-top:solid #E1E1E1 1.0pt"><p><b>From:</b> Acme</p></div><p>Tea?</p>'],
  ["Thunderbird", '<p>Yes.</p><div class="moz-cite-prefix">On 31.01.26 Acme wrote:</div><blockquote type="cite">Tea?</blockquote>'],
  ["Apple Mail", '<div>Yes.<br><blockquote type="cite"><div>On Jan 31 Acme wrote:</div>Tea?</blockquote></div>'],
])("a mail of %s that has only HTML is cut, too", (_program, html) => expect(cutQuotedHtml(html, toPlainText(html))).toBe("Yes."));

const HOSTILE = [
  "On 1 ",
  "> ",
  "From: x\n",
  "_",
  "\n",
  "2026年<a@",
  "<div class=",
  "wrote: ",
  "<a@b> wrote:\n",
  "x wrote in\n<a@b>:\n\n",
  "On 1\nOn 2\n",
  `On ${"wrote ".repeat(66)}\n`,
  `On ${"wrote ".repeat(66)}:\n`,
  `2026/<${"a@".repeat(190)}\n`,
  `2026/${"<".repeat(120)}${"a@".repeat(130)}\n`,
  `<div ${"class= ".repeat(71)}`,
  `From:\n${"\n".repeat(5)}`,
  `${"_".repeat(10)}\n\n\n`,
  `${" ".repeat(399)}-\n`,
];

test("a megabyte of anything is read in time that rises with its length", () => {
  const cpu = (text: string): number => {
    const before = process.cpuUsage();
    cutQuotedText(text);
    cutQuotedHtml(text, toPlainText(text));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  // About 0.3 s each where the machine is quiet.
  for (const piece of HOSTILE) expect([piece, cpu(piece.repeat(1_000_000 / piece.length)) < 3000]).toEqual([piece, true]);
  const before = process.cpuUsage();
  cutQuotedHtml(`<div class=${" ".repeat(4_000_000)}`, "");
  const { user, system } = process.cpuUsage(before);
  // A few ms; 4 s if each blank is read again with those after it.
  expect((user + system) / 1000).toBeLessThan(1000);
});
