import { expect, test } from "vitest";
import { toPlainText } from "../html/plain-text.ts";
import { cutQuoted, cutQuotedHtml, cutQuotedText } from "./quoted-text.ts";

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

test.each([
  "On Thu, Jan 15, 2026 at 10:00 AM Acme <hello@acme.example> wrote:",
  "Am Do., 15. Jan. 2026 um 10:00 Uhr schrieb Acme <hello@acme.example>:",
  "Le jeu. 15 janv. 2026 à 10:00, Acme <hello@acme.example> a écrit :",
  "El jue, 15 ene 2026 a las 10:00, Acme (<hello@acme.example>) escribió:",
  "Il giorno gio 15 gen 2026 alle ore 10:00 Acme <hello@acme.example> ha scritto:",
  "Em qui., 15 de jan. de 2026 às 10:00, Acme <hello@acme.example> escreveu:",
  "Op do 15 jan 2026 om 10:00 schreef Acme <hello@acme.example>:",
  "Den tors 15 jan. 2026 kl 10:00 skrev Acme <hello@acme.example>:",
  "tor. 15. jan. 2026 kl. 10.00 skrev Acme <hello@acme.example>:",
  "to 15. tammik. 2026 klo 10.00 Acme (hello@acme.example) kirjoitti:",
  "czw., 15 sty 2026 o 10:00 Acme <hello@acme.example> napisał(a):",
  "čt 15. 1. 2026 v 10:00 odesílatel Acme <hello@acme.example> napsal:",
  "št 15. 1. 2026 o 10:00 Acme <hello@acme.example> napísal(a):",
  "чт, 15 янв. 2026 г. в 10:00, Acme <hello@acme.example>:",
  "чт, 15 січ. 2026 р. о 10:00 Acme <hello@acme.example> пише:",
  "Acme <hello@acme.example> ezt írta (időpont: 2026. jan. 15., Cs, 10:00):",
  "În joi, 15 ian. 2026 la 10:00, Acme <hello@acme.example> a scris:",
  "Στις Πέμ 15 Ιαν 2026 στις 10:00 π.μ., ο χρήστης Acme <hello@acme.example> έγραψε:",
  "Acme <hello@acme.example>, 15 Oca 2026 Per, 10:00 tarihinde şunu yazdı:",
  "Acme <hello@acme.example> 于2026年1月15日周四 10:00写道：",
  "Acme <hello@acme.example> 於 2026年1月15日 週四 上午10:00寫道：",
  "2026年1月15日(木) 10:00 Acme <hello@acme.example>:",
  "2026년 1월 15일 (목) 오전 10:00, Acme <hello@acme.example>님이 작성:",
  "Vào Th 5, 15 thg 1, 2026 vào lúc 10:00 Acme <hello@acme.example> đã viết:",
  "Pada tanggal Kam, 15 Jan 2026 pukul 10.00 Acme <hello@acme.example> menulis:",
  "‫بتاريخ الخميس، 15 يناير 2026 في 10:00 ص تمت كتابة ما يلي بواسطة ‪Acme‬‏ <‪hello@acme.example‬‏>:‬",
  "‫בתאריך יום ה׳, 15 בינו׳ 2026 ב-10:00 מאת ‪Acme‬‏ <‪hello@acme.example‬‏>:‬",
  "เมื่อ พฤ. 15 ม.ค. 2026 เวลา 10:00 Acme <hello@acme.example> เขียนว่า:",
  "गुरु, 15 जन॰ 2026 को 10:00 am बजे Acme <hello@acme.example> ने लिखा:",
  "El dj., 15 de gen. 2026, 10:00, Acme <hello@acme.example> va escriure:",
  "На чт, 15.01.2026 г. в 10:00 Acme <hello@acme.example> написа:",
  "чет, 15. јан 2026. у 10:00 Acme <hello@acme.example> је написао/ла:",
  "V čet., 15. jan. 2026 ob 10:00 je oseba Acme <hello@acme.example> napisala:",
  "čet, 15. sij 2026. u 10:00 Acme <hello@acme.example> napisao je:",
  "2026-01-15, kt, 10:00 Acme <hello@acme.example> rašė:",
  "ceturtd., 2026. g. 15. janv., plkst. 10:00 — lietotājs Acme (<hello@acme.example>) rakstīja:",
  "Kuupäev N, 15. jaanuar 2026 kell 10:00 kirjutas kasutaja Acme <hello@acme.example>:",
  "On 15/01/2026 10:00, Acme wrote:",
  "Am 15.01.26 um 10:00 schrieb Acme:",
  "On Sat, 15 Jan 2026 10:00:00 +0100\nAcme <hello@acme.example> wrote:",
  "On Thursday, January 15th, 2026 at 10:00 AM, Acme Team and Friends <\nhello@acme.example> wrote:",
  "On Saturday, January 15, 2026 at\n10:00 AM, Acme <hello@acme.example> wrote:",
])("the line above quoted lines is cut off in any language: %s", (attribution) => {
  for (const written of ["Yes.\n\n", "Yes, on 12.01. at 9:30.\n\n", "Yes.\n"])
    expect(cutQuotedText(`${written}${attribution}\n\n> How are you?\n> Acme`)).toBe(written.trim());
});

test.each([
  ["Zoho", lines("Yes.", "", "---- On Thu, 15 Jan 2026 10:00:00 +0100 Acme <hello@acme.example> wrote ---", "", "How are you?")],
  [
    "GMX",
    lines(
      "Yes.",
      "",
      "Gesendet: Donnerstag, 15. Januar 2026 um 10:00",
      'Von: "Acme" <hello@acme.example>',
      "An: a@b.example",
      "Betreff: Hi",
      "Wie?",
    ),
  ],
  [
    "Outlook in a language that is not listed",
    lines("Yes.", "", "________________________________", "Frá: Acme <a@b.example>", "Sent: 1", "Til: Ada", "Efni: Hi", "", "Hi"),
  ],
])("what %s puts under an answer without > is cut off", (_program, text) => expect(cutQuotedText(text)).toBe("Yes."));

test("answers below the quotation are kept", () => {
  const attribution = "On Thu, Jan 15, 2026 at 10:00 AM Acme <hello@acme.example> wrote:";
  expect(cutQuotedText(`${attribution}\n> Tea?\n\nYes.`)).toBe("Yes.");
  const html = `<div class="gmail_quote"><div>${attribution.replace("<", "&lt;")}<br></div><blockquote class="gmail_quote">Tea?</blockquote></div><p>Yes.</p>`;
  expect(cutQuotedHtml(html, toPlainText(html))).toBe("Yes.");
});

test("the HTML tells where a quotation begins that the text does not", () => {
  const html = '<div>Yes.</div><div class="gmail_quote"><div>Acme, 15.1.2026:</div><blockquote>Tea?</blockquote></div>';
  expect(cutQuoted("Yes.\n\nAcme, 15.1.2026:", html)).toBe("Yes.");
  // Answers between quoted lines are in the text alone.
  expect(cutQuoted("Yes.\n\nAcme, 15.1.2026:\n> Tea?\nNo.", html)).toContain("No.");
});

test("answers between quoted lines are kept", () => {
  const text = lines("On Sat, Jan 31, 2026 Acme wrote:", "> Tea?", "Yes.", "> Milk?", "No.");
  expect(cutQuotedText(text)).toBe("Yes.\nNo.");
});

test.each([
  "On Monday I wrote:\nthree letters",
  "On Monday at 9:30 he wrote:\nthe cup is broken.\nPlease send another one.",
  "On January 31, 2026 you wrote:\nThe price is 5.",
  "From: Berlin\nTo: Paris\nSent: yesterday",
  "Name: Ada\nEmail: ada@example.com\nDate: 2026-01-31\nMessage: hello",
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
