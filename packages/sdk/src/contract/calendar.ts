import { limits } from "./limits.ts";
import { Attachment, Content, issue } from "./send-fields.ts";
import * as z from "./zod.ts";

/** Methods of calendar messages (RFC 5546). */
export const CALENDAR_METHODS = ["REQUEST", "CANCEL", "REPLY", "PUBLISH", "ADD", "REFRESH", "COUNTER", "DECLINECOUNTER"] as const;
export type CalendarMethod = (typeof CALENDAR_METHODS)[number];

export const CALENDAR_LIMITS = limits("emails", "A calendar in a mail", {
  content: [1024 * 1024, "content of icalEvent; larger attachments are only files", "bytes"],
  /** Mail programs know three. */
  depth: [8, "components within each other"],
  properties: [20_000, "properties, such as SUMMARY"],
});

/** One property of a calendar, such as `SUMMARY:Review`, with the component that it belongs to. */
export interface CalendarProperty {
  /** Path of its components, such as `VCALENDAR/VEVENT`. */
  readonly of: string;
  /** Number of its component among all, from 0. */
  readonly component: number;
  readonly name: string;
  readonly parameters: string;
  readonly value: string;
  /** Line in the text, from 1. */
  readonly line: number;
}

/** A calendar as far as it can be read; `fault` says what keeps it from being one. */
interface ReadCalendar {
  /** METHOD in capitals; null without one. */
  readonly method: string | null;
  readonly properties: readonly CalendarProperty[];
  readonly fault: string | null;
}

/** Reads iCalendar (RFC 5545): lines, their folding, and components within each other. Never throws. */
export function readCalendar(text: string): ReadCalendar {
  const properties: CalendarProperty[] = [];
  const open: { readonly name: string; readonly component: number }[] = [];
  let components = 0;
  let isOver = false;
  const end = (fault: string | null): ReadCalendar => {
    const methods = properties.filter(({ of, name }) => of === "VCALENDAR" && name === "METHOD");
    const method = methods[0]?.value.trim().toUpperCase() ?? null;
    return { method, properties, fault: fault ?? (methods.length > 1 ? "METHOD is given twice." : null) };
  };
  for (const { line, number } of unfold(text)) {
    if (/[^\P{Cc}\t]/u.test(line)) return end(`Line ${number} has a control character.`);
    const property = splitLine(line);
    if (properties.length === CALENDAR_LIMITS.properties) return end(`It has more than ${CALENDAR_LIMITS.properties} properties.`);
    if (property === null) return end(`Line ${number} is no property such as SUMMARY:Review.`);
    const { name, value } = property;
    const word = value.trim().toUpperCase();
    if (open.length === 0 && (isOver || name !== "BEGIN" || word !== "VCALENDAR"))
      return end(isOver ? `Line ${number} is behind END:VCALENDAR. A mail has one calendar.` : "It does not start with BEGIN:VCALENDAR.");
    if (name === "BEGIN") {
      if (open.length === CALENDAR_LIMITS.depth) return end(`Line ${number} is more than ${CALENDAR_LIMITS.depth} components deep.`);
      open.push({ name: word, component: components });
      components += 1;
    } else if (name === "END") {
      const { name: begun } = open.pop() as { name: string };
      if (begun !== word) return end(`Line ${number} ends ${word}, but ${begun} is open.`);
      isOver = open.length === 0;
    } else {
      const component = open.at(-1)?.component ?? 0;
      properties.push({ ...property, of: open.map((one) => one.name).join("/"), component, line: number });
    }
  }
  if (!isOver) return end(open.length === 0 ? "It does not start with BEGIN:VCALENDAR." : `END:${open.at(-1)?.name} is missing.`);
  return end(components < 2 ? "It has no event: BEGIN:VEVENT is missing." : null);
}

/** The value of a TEXT property (RFC 5545, 3.3.11) as a person reads it. */
function unescapeCalendarText(value: string): string {
  return value.replace(/\\([\\;,nN])/g, (_whole, sign: string) => (sign === "n" || sign === "N" ? "\n" : sign));
}

/** Lines with those that continue them, without empty ones. */
function unfold(text: string): { line: string; number: number }[] {
  const lines: { line: string; number: number }[] = [];
  for (const [i, line] of text
    .replace(/^\uFEFF?\s*/, "")
    .trimEnd()
    .split(/\r\n|\r|\n/)
    .entries()) {
    const last = lines.at(-1);
    if (line === "") continue;
    if (last && /^[ \t]/.test(line)) last.line += line.slice(1);
    else lines.push({ line, number: i + 1 });
  }
  return lines;
}

/** `NAME;PARAMETERS:VALUE`. A colon in quotes belongs to a parameter. */
function splitLine(line: string): Pick<CalendarProperty, "name" | "parameters" | "value"> | null {
  const [name] = /^[A-Za-z0-9-]+(?=[;:])/.exec(line) ?? [];
  if (name === undefined) return null;
  let quoted = false;
  for (let at = name.length; at < line.length; at += 1) {
    if (line[at] === '"') quoted = !quoted;
    else if (line[at] === ":" && !quoted)
      return { name: name.toUpperCase(), parameters: line.slice(name.length, at), value: line.slice(at + 1) };
  }
  return null;
}

const Method = z.enum(CALENDAR_METHODS);

/** An invitation, or another calendar message, that mail programs show with buttons. */
export const IcalEvent = z
  .strictObject({
    // Programs that know nodemailer write it in small letters, too.
    method: z
      .preprocess((word) => (typeof word === "string" ? word.toUpperCase() : word), Method)
      .optional()
      .meta({ description: "Purpose, as METHOD of the content says it; taken from there when absent" }) as unknown as z.ZodOptional<
      typeof Method
    >,
    content: Content.refine((text) => new TextEncoder().encode(text).length <= CALENDAR_LIMITS.content, {
      message: "A calendar is at most 1 MiB.",
      params: { code: "too_big" },
    }).meta({ description: "The calendar, from BEGIN:VCALENDAR to END:VCALENDAR, up to 1 MiB" }),
    filename: Attachment.shape.filename.optional().meta({ description: "Name of the file; invite.ics when absent" }),
  })
  .superRefine(({ method, content }, ctx) => {
    if (content.length > CALENDAR_LIMITS.content) return;
    const { method: own, fault } = readCalendar(content);
    if (fault !== null) return issue(ctx, ["content"], "invalid_format", `A calendar (RFC 5545) is needed. ${fault}`);
    if (own === null)
      return issue(ctx, ["content"], "mismatch", "The calendar has no METHOD, such as METHOD:REQUEST below BEGIN:VCALENDAR.");
    if (method === undefined && !CALENDAR_METHODS.some((one) => one === own))
      return issue(ctx, ["content"], "invalid_format", `METHOD is none of ${CALENDAR_METHODS.join(", ")}.`);
    if (method !== undefined && own !== method)
      issue(ctx, ["method"], "mismatch", `method is ${method}, and the calendar has another METHOD. Mail programs need the same in both.`);
  })
  .meta({
    id: "IcalEvent",
    description: "An invitation: {method, content}. Mail programs show it with buttons, and as the file invite.ics",
  });

/** A calendar in a mail that was captured. */
export const CapturedCalendar = z
  .object({
    method: z.string().meta({ description: "METHOD, such as REQUEST" }),
    summary: z.string().nullable(),
    location: z.string().nullable(),
    /** DTSTART and DTEND as they are written, with their time zone if they have one: `20300131T093000Z`, `20300131T093000 Europe/Berlin`. */
    start: z.string().nullable(),
    end: z.string().nullable(),
    organizer: z.string().nullable().meta({ description: "Address of the organizer" }),
    attendees: z.array(z.string()).meta({ description: "Addresses of the people invited" }),
    content: z.string(),
  })
  .meta({ id: "CapturedCalendar" });
export type CapturedCalendar = z.infer<typeof CapturedCalendar>;

/** A calendar as the inbox shows it; null for a text that is none, or asks for nothing. */
export function showCalendar(content: string): CapturedCalendar | null {
  const { method, properties, fault } = readCalendar(content);
  if (fault !== null || method === null) return null;
  // The first component of a calendar may be a time zone.
  const first = properties.find(({ of }) => /^VCALENDAR\/V(?:EVENT|TODO|JOURNAL|FREEBUSY)$/.test(of))?.component;
  const own = properties.filter(({ component }) => component === first);
  const find = (name: string) => own.find((property) => property.name === name);
  const findText = (name: string): string | null => {
    const found = find(name)?.value;
    return found === undefined ? null : unescapeCalendarText(found);
  };
  const findTime = (name: string): string | null => {
    const found = find(name);
    return found === undefined ? null : [found.value, /;TZID="?([^";:]+)/i.exec(found.parameters)?.[1]].filter(Boolean).join(" ");
  };
  const toAddress = (value: string): string => value.replace(/^mailto:/i, "");
  const organizer = find("ORGANIZER")?.value;
  return {
    ...{ method, summary: findText("SUMMARY"), location: findText("LOCATION"), start: findTime("DTSTART"), end: findTime("DTEND") },
    organizer: organizer === undefined ? null : toAddress(organizer),
    attendees: own.filter(({ name }) => name === "ATTENDEE").map(({ value }) => toAddress(value)),
    content,
  };
}
