import { clock } from "./clock.ts";
import { event } from "./event.ts";
import { events } from "./events.ts";
import { mail } from "./mail.ts";
import { mails } from "./mails.ts";
import { start } from "./start.ts";
import { times } from "./times.ts";
import { tools } from "./tools.ts";

// The parts as they are used below. Each is sent to the browser as its own text, so it uses nothing but what it is given.
const PARTS = { tools, times, clock, mail, mails, event, events, start };

/** The program of the page, as text: its parts, and how they are put together. */
export function script(): string {
  return `(() => {
${Object.entries(PARTS)
  .map(([name, part]) => `const ${name} = ${part.toString()};`)
  .join("\n")}
const tool = tools();
const time = times();
const oneMail = mail(tool, time, () => allMail.draw());
const allMail = mails(tool, time, oneMail);
const oneEvent = event(tool, time, () => allEvents.draw());
const allEvents = events(tool, time, oneEvent);
clock(tool, time, {
  moved: () => { allMail.draw(); allEvents.draw(); },
  jumped: () => allMail.again(),
}).start();
start(tool, { mail: oneMail, mails: allMail, event: oneEvent, events: allEvents });
})();`;
}
