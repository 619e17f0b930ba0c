import { expect, test } from "vitest";
import { judgeReply } from "./reply-judge.ts";

const reply = (message: string, enhancedCode: string | null = null, smtpCode: number | null = Number(message.slice(0, 3))) =>
  judgeReply({ message, smtpCode, enhancedCode });

test.each<[what: string, message: string, code: string | null, meaning: RegExp, party: string]>([
  ["no such user", "550 5.1.1 No such user here", "5.1.1", /does not exist/, "address"],
  ["an unknown domain", "550 5.1.2 Bad destination", "5.1.2", /domain of the address/, "address"],
  ["a full mailbox", "452 4.2.2 Mailbox full", "4.2.2", /full/, "recipient"],
  [
    "Gmail's lack of authentication",
    "550-5.7.26 This mail has been blocked because the sender is unauthenticated",
    "5.7.26",
    /neither SPF nor DKIM/,
    "domain",
  ],
  [
    "Outlook's rule for bulk senders",
    "550 5.7.515 Access denied, sending domain x does not meet the required authentication level",
    "5.7.515",
    /5,000 mails a day/,
    "domain",
  ],
  ["Yahoo's policy", "554 5.7.9 Message not accepted for policy reasons", "5.7.9", /Yahoo and AOL/, "domain"],
  ["Outlook's DMARC", "550 5.7.509 Access denied, sending domain does not pass DMARC verification", "5.7.509", /DMARC/, "domain"],
  ["a banned address", "550 5.7.606 Access denied, banned sending IP", "5.7.606", /Outlook has blocked/, "reputation"],
  ["a policy that is about relaying", "554 5.7.1 <a@b.example>: Relay access denied", "5.7.1", /does not relay/, "relay"],
  [
    "a policy that is about a block list",
    "554 5.7.1 Service unavailable; client host blocked using zen.spamhaus.org",
    "5.7.1",
    /block list/,
    "reputation",
  ],
  ["a policy that is about content", "550 5.7.1 Message contains spam", "5.7.1", /taken for spam/, "content"],
  ["a policy that says nothing", "550 5.7.1 Denied", "5.7.1", /stands for many/, "reputation"],
  ["greylisting", "451 4.7.1 Greylisted, please try again later", "4.7.1", /Greylisting/, "nobody"],
  ["a limit of speed", "421 4.7.28 Unusual rate of mail", "4.7.28", /Too much mail/, "reputation"],
  ["an unknown code of a known subject", "550 5.7.999 No", "5.7.999", /rule of the other side/, "reputation"],
  ["a code only inside the text", "550 Blocked, see 5.7.26 in our rules", null, /neither SPF nor DKIM/, "domain"],
  ["words without a code", "550 relay not permitted", null, /does not relay/, "relay"],
  ["an SMTP code alone", "450 later", null, /not available now/, "recipient"],
])("%s is explained", (_what, message, code, meaning, party) => {
  const refusal = reply(message, code);
  expect(refusal).toMatchObject({ party });
  expect(refusal?.meaning).toMatch(meaning);
});

test("words of an address in the reply mean nothing", () => {
  expect(reply("550 5.7.1 <spam@relay.example> denied", "5.7.1")?.meaning).toMatch(/stands for many/);
});

test("a reply that says nothing is not explained", () => {
  expect(reply("The connection was lost before the reply came.", null, null)).toBeNull();
});
