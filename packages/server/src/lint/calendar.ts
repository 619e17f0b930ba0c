import { CALENDAR_METHODS, type CalendarProperty, readCalendar } from "@mailsvc/sdk/contract";
import type { Findings } from "./findings.ts";

/** Properties that each event of a message needs (RFC 5545, 3.6.1; RFC 5546, 3.2), and their use. */
const NEEDED = {
  UID: "changes and answers find the event by it",
  DTSTAMP: "of two versions the newer one counts",
  DTSTART: "it says when the event is",
  ORGANIZER: "answers go there",
} as const;
/** Messages of those who were invited; theirs need no beginning. */
const ANSWERS = new Set(["REPLY", "REFRESH", "COUNTER", "DECLINECOUNTER"]);

/** Checks the calendar of an invitation. */
export function checkCalendar(calendar: string, findings: Findings): void {
  const { method, properties, fault } = readCalendar(calendar);
  const add = (rule: "calendar-invalid" | "calendar-incomplete", line: number | null, message: string): void =>
    findings.addAt(rule, "calendar", line === null ? null : { line, column: 1 }, message, line ?? 0);
  if (fault !== null) {
    add("calendar-invalid", null, fault);
    return;
  }
  const top = properties.filter(({ of }) => of === "VCALENDAR");
  if (!CALENDAR_METHODS.some((one) => one === method))
    add("calendar-invalid", null, method === null ? "It has no METHOD." : `METHOD is none of ${CALENDAR_METHODS.join(", ")}.`);
  if (find(top, "VERSION")?.value.trim() !== "2.0") add("calendar-incomplete", null, "VERSION:2.0 is missing.");
  if (!find(top, "PRODID")) add("calendar-incomplete", null, "PRODID is missing, the name of the program that wrote it.");
  const events = Map.groupBy(
    properties.filter(({ of }) => of === "VCALENDAR/VEVENT"),
    ({ component }) => component,
  );
  for (const own of events.values()) {
    for (const [name, use] of Object.entries(NEEDED)) {
      const isNeeded =
        name === "DTSTART" ? !ANSWERS.has(method ?? "") && method !== "CANCEL" : name !== "ORGANIZER" || method !== "PUBLISH";
      if (isNeeded && !find(own, name)) add("calendar-incomplete", own[0]?.line ?? null, `An event has no ${name}: ${use}.`);
    }
    if (method !== "PUBLISH" && !find(own, "ATTENDEE"))
      add(
        "calendar-incomplete",
        own[0]?.line ?? null,
        "An event has no ATTENDEE: Gmail and Outlook show no buttons to those who are not invited.",
      );
  }
  checkZones(properties, (line, message) => add("calendar-incomplete", line, message));
}

/** Checks that each time zone is described, as Outlook needs it. */
function checkZones(properties: readonly CalendarProperty[], report: (line: number, message: string) => void): void {
  const described = new Set(
    properties.filter(({ of, name }) => of === "VCALENDAR/VTIMEZONE" && name === "TZID").map(({ value }) => value.trim()),
  );
  for (const { parameters, line } of properties) {
    const zone = /;TZID="?([^";:]+)/i.exec(parameters)?.[1];
    if (zone === undefined || described.has(zone)) continue;
    described.add(zone);
    report(line, `The time zone ${zone.slice(0, 60)} has no VTIMEZONE.`);
  }
}

function find(properties: readonly CalendarProperty[], wanted: string): CalendarProperty | undefined {
  return properties.find(({ name }) => name === wanted);
}
