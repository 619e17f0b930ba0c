import { clock } from "./clock.ts";
import { dom } from "./dom.ts";
import { emailList } from "./email-list.ts";
import { emailView } from "./email-view.ts";
import { eventList } from "./event-list.ts";
import { eventView } from "./event-view.ts";
import { format } from "./format.ts";
import { liveList } from "./live-list.ts";
import { mailList } from "./mail-list.ts";
import { mailSearch } from "./mail-search.ts";
import { mailView } from "./mail-view.ts";
import { navigation } from "./navigation.ts";
import { tabs } from "./tabs.ts";

// Each part is sent to the browser as the text of its function, so it can use only its arguments.
const PARTS = {
  dom,
  format,
  clock,
  tabs,
  liveList,
  mailSearch,
  mailView,
  mailList,
  emailView,
  emailList,
  eventView,
  eventList,
  navigation,
};

/** The program of the page, as text: its parts, and how they are connected. */
export function script(): string {
  return `(() => {
const parts = {
${Object.entries(PARTS)
  .map(([name, part]) => `${name}: ${part.toString()}`)
  .join(",\n")}
};
const dom = parts.dom();
const format = parts.format();
const mailView = parts.mailView(dom, format, parts.tabs, () => mailList.draw());
const mailList = parts.mailList(dom, format, mailView, parts.mailSearch(dom));
const emailView = parts.emailView(dom, format, () => emailList.draw());
const emailList = parts.emailList(dom, format, emailView, parts.liveList);
const eventView = parts.eventView(dom, format, parts.tabs, () => eventList.draw());
const eventList = parts.eventList(dom, format, eventView, parts.liveList);
parts.clock(dom, format, {
  moved: () => { mailList.draw(); emailList.draw(); eventList.draw(); },
  jumped: () => mailList.again(),
}).start();
parts.navigation(dom, { mailView, mailList, emailView, emailList, eventView, eventList });
})();`;
}
