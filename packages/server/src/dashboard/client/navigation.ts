import type { Dom } from "./dom.ts";
import type { EmailList } from "./email-list.ts";
import type { EmailView } from "./email-view.ts";
import type { EventList } from "./event-list.ts";
import type { EventView } from "./event-view.ts";
import type { MailList } from "./mail-list.ts";
import type { MailView } from "./mail-view.ts";

/** The lists of the page, each with the view of one of its items. */
export interface Views {
  readonly mailView: MailView;
  readonly mailList: MailList;
  readonly emailView: EmailView;
  readonly emailList: EmailList;
  readonly eventView: EventView;
  readonly eventList: EventList;
}

/** Which list is shown, by its button or the address; the keys; and the reset. */
export function navigation({ byId, confirmFirst, call, handle, notice }: Dom, views: Views): void {
  const { mailView, mailList, emailView, emailList, eventView, eventList } = views;
  const TABS = {
    inbox: { list: mailList, view: mailView, search: "search" },
    activity: { list: emailList, view: emailView, search: "email-search" },
    webhooks: { list: eventList, view: eventView, search: "event-search" },
  };
  type Tab = keyof typeof TABS;
  let tab: Tab = "inbox";

  const show = (next: Tab): void => {
    tab = next;
    emailList.watch(tab === "activity");
    eventList.watch(tab === "webhooks");
    for (const name of Object.keys(TABS)) {
      byId(name).hidden = name !== tab;
      byId(`to-${name}`).setAttribute("aria-current", String(name === tab));
    }
    byId("clear").hidden = tab !== "inbox";
    document.body.classList.toggle("reading", TABS[tab].view.current() !== "");
  };
  const refresh = async (): Promise<void> => {
    if (tab === "inbox") mailList.draw();
    else await TABS[tab].list.refresh();
  };
  /** Shows what the address names: `#webhooks/slug/id`, `#activity/workspace/id`, or the id of a captured mail. */
  const openAddress = async (): Promise<void> => {
    const [first = "", second = "", third = ""] = location.hash.slice(1).split("/");
    show(first === "activity" || first === "webhooks" ? first : "inbox");
    if (tab === "inbox" && first !== "" && first !== "inbox") return mailView.show(first);
    await refresh();
    if (third === "") return;
    if (tab === "activity") await emailView.open(second, third);
    else await eventView.show(second, third);
  };

  for (const name of Object.keys(TABS) as Tab[])
    byId(`to-${name}`).onclick = handle(async () => {
      const mail = mailView.current();
      history.pushState(null, "", name === "inbox" ? (mail === "" ? location.pathname : `#${mail}`) : `#${name}`);
      show(name);
      await refresh();
    });
  window.addEventListener("popstate", handle(openAddress));
  byId("no").onclick = () => byId<HTMLDialogElement>("ask").close();
  byId("reset").onclick = confirmFirst(
    "Delete everything? Mail, emails, agents, keys, senders and suppressions are deleted; the first key stays.",
    "Delete everything",
    async () => {
      await call("POST", "/__dev/reset", {});
      for (const { view } of Object.values(TABS)) view.close();
      notice("Everything was deleted");
      mailList.again();
      await refresh();
    },
  );
  document.addEventListener("keydown", (pressed) => {
    if (pressed.ctrlKey || pressed.metaKey || pressed.altKey || byId<HTMLDialogElement>("ask").open) return;
    const { list, view } = TABS[tab];
    const search = byId(TABS[tab].search);
    if (pressed.target === search) {
      if (pressed.key === "Escape" || pressed.key === "Enter") search.blur();
      return;
    }
    if (pressed.key === "j") list.move(1);
    else if (pressed.key === "k") list.move(-1);
    else if (pressed.key === "Escape" && view.current() !== "") view.close();
    else if (pressed.key === "/") search.focus();
    else return;
    pressed.preventDefault();
  });
  for (const { list, view } of Object.values(TABS)) {
    view.start();
    list.start();
  }
  handle(openAddress)();
}
