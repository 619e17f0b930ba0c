import type { EventView } from "./event.ts";
import type { EventList } from "./events.ts";
import type { MailView } from "./mail.ts";
import type { MailList } from "./mails.ts";
import type { Tools } from "./tools.ts";

/** The two sides of the page. */
interface Sides {
  readonly mail: MailView;
  readonly mails: MailList;
  readonly event: EventView;
  readonly events: EventList;
}

/** Which side is seen, what the address names, the keys, and starting over. */
export function start({ at, ask, call, doing, notice }: Tools, { mail, mails, event, events }: Sides): void {
  let onWebhooks = false;

  const see = (webhooks: boolean): void => {
    onWebhooks = webhooks;
    events.watch(webhooks);
    at("inbox").hidden = webhooks;
    at("webhooks").hidden = !webhooks;
    at("clear").hidden = webhooks;
    at("to-inbox").setAttribute("aria-current", String(!webhooks));
    at("to-webhooks").setAttribute("aria-current", String(webhooks));
    const reading = webhooks ? event.current() : mail.current();
    document.body.classList.toggle("reading", reading !== "");
  };
  const follow = async (): Promise<void> => {
    const [side = "", slug = "", id = ""] = location.hash.slice(1).split("/");
    see(side === "webhooks");
    if (!onWebhooks) {
      if (side !== "") await mail.show(side);
      else mails.draw();
      return;
    }
    await events.refresh();
    if (id !== "") await event.show(slug, id);
  };

  at("to-inbox").onclick = doing(async () => {
    history.pushState(null, "", mail.current() === "" ? location.pathname : `#${mail.current()}`);
    see(false);
    mails.draw();
  });
  at("to-webhooks").onclick = doing(async () => {
    history.pushState(null, "", "#webhooks");
    see(true);
    await events.refresh();
  });
  window.addEventListener("popstate", doing(follow));
  at("no").onclick = () => at<HTMLDialogElement>("ask").close();
  at("reset").onclick = ask(
    "Start over? Mail, emails, agents, keys, senders and suppressions go; the first key stays.",
    "Start over",
    async () => {
      await call("POST", "/__dev/reset", {});
      event.close();
      mail.close();
      notice("A fresh world");
      mails.again();
      if (onWebhooks) await events.refresh();
    },
  );
  document.addEventListener("keydown", (pressed) => {
    if (pressed.ctrlKey || pressed.metaKey || pressed.altKey || at<HTMLDialogElement>("ask").open) return;
    const search = at(onWebhooks ? "event-search" : "search");
    if (pressed.target === search) {
      if (pressed.key === "Escape" || pressed.key === "Enter") search.blur();
      return;
    }
    const [list, view] = onWebhooks ? [events, event] : [mails, mail];
    if (pressed.key === "j") list.move(1);
    else if (pressed.key === "k") list.move(-1);
    else if (pressed.key === "Escape" && view.current() !== "") view.close();
    else if (pressed.key === "/") search.focus();
    else return;
    pressed.preventDefault();
  });
  mail.start();
  mails.start();
  event.start();
  events.start();
  doing(follow)();
}
