import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli, folder, TERMINAL } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const CALENDAR = `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Acme//EN
METHOD:REQUEST
BEGIN:VEVENT
UID:1@acme.example
DTSTAMP:20300101T080000Z
DTSTART;TZID=Europe/Berlin:20300131T093000
SUMMARY:Review\u001b of Grüße
ORGANIZER;CN=Acme:mailto:hello@acme.example
ATTENDEE;RSVP=TRUE:mailto:ada@example.com
END:VEVENT
END:VCALENDAR
`;
const SEND = ["send", "--from", "hello@acme.example", "--to", "ada@example.com", "--subject", "Review", "--text", "Coming?"];
const screen = { tty: TERMINAL, env: { NO_COLOR: "1" } };

test("--ical sends a calendar from a file or stdin, and inbox get shows the invitation", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const cwd = folder();
  const good = CALENDAR.replace("\u001b", "");
  writeFileSync(join(cwd, "review.ics"), good);
  expect(await mailsvc([...SEND, "--ical", join(cwd, "review.ics")])).toMatchObject({ code: 0 });
  expect(await mailsvc([...SEND, "--to", "bob@example.com", "--ical", "-"], { stdin: good })).toMatchObject({ code: 0 });
  await world.settle();
  const [mail] = await world.inbox.all({ to: "ada@example.com" });
  const { stdout } = await mailsvc(["inbox", "get", mail?.id ?? ""], screen);
  expect(stdout).toContain(`Invitation  REQUEST
event      Review of Grüße
start      20300131T093000 Europe/Berlin
organizer  hello@acme.example
attendees  ada@example.com

Attachments
  review.ics  application/ics`);
  expect((await world.inbox.waitFor({ to: "bob@example.com" })).attachments).toMatchObject([{ filename: "invite.ics" }]);
});

test("a calendar that is none is refused before it is sent, with the flag's name, and lint says what mail programs miss", async () => {
  const { mailsvc } = await startCliWithServer();
  const cwd = folder();
  writeFileSync(join(cwd, "bad.ics"), CALENDAR);
  const refused = await mailsvc([...SEND, "--ical", join(cwd, "bad.ics")]);
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining("--ical")]);
  writeFileSync(join(cwd, "thin.ics"), CALENDAR.replace("\u001b", "").replace(/ATTENDEE.*\n/, ""));
  const linted = await cli(["lint", "thin.ics"], { ...screen, cwd });
  expect([linted.code, linted.stdout]).toEqual([
    0,
    `thin.ics
thin.ics:6:1  warning  An event has no ATTENDEE: Gmail and Outlook show no buttons to those who are not invited.  calendar-incomplete
  Add it.
thin.ics:8:1  warning  The time zone Europe/Berlin has no VTIMEZONE.  calendar-incomplete
  Add it.
0 errors, 2 warnings
`,
  ]);
});
