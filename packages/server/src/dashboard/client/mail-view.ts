import type { contract, Output } from "@mailsvc/sdk/contract";
import type { Dom } from "./dom.ts";
import type { Format } from "./format.ts";
import type { Tabs } from "./tabs.ts";

type Detail = Output<typeof contract.inbox.get>;

/** One mail, opened: its facts, and its parts in tabs. `changed` is called when another one is opened, or none. */
export function mailView(dom: Dom, format: Format, tabs: Tabs, changed: () => void) {
  const { byId, element, button, link, fact, lines, table, call, handle } = dom;
  const REMOTE =
    /(?:src|srcset|background|poster|href)\s*=\s*["']?\s*(?:https?:)?\/\/[^"'\s>]+\.(?:png|jpe?g|gif|webp|svg|css|avif)|<(?:img|video|audio|source|link)[^>]+(?:https?:)?\/\/|url\(\s*["']?\s*(?:https?:)?\/\//i;
  let open: Detail | null = null;
  const strip = tabs(dom, "open", "panel", "html");
  let remote = false;

  const panels: Record<string, (mail: Detail) => Promise<HTMLElement[]>> = {
    html: async (mail) => {
      const frame = document.createElement("iframe");
      frame.title = "The mail as HTML";
      // No scripts, no forms, no origin; links may open tabs.
      frame.setAttribute("sandbox", "allow-popups allow-popups-to-escape-sandbox");
      frame.referrerPolicy = "no-referrer";
      frame.src = `/dashboard/mail/${mail.id}${remote ? "?remote=1" : ""}`;
      if (remote || !REMOTE.test(mail.html ?? "")) return [frame];
      const load = (): void => {
        remote = true;
        drawTab();
      };
      return [element("p", "bar", "Content from other servers is blocked. ", button("", load, "Load it")), frame];
    },
    text: async (mail) => lines(mail.text ?? ""),
    source: async (mail) => {
      const path = `/__dev/inbox/${mail.id}/raw`;
      const response = await fetch(path);
      return [element("p", "bar", link("Save as .eml", path, `${mail.id}.eml`)), ...lines(await response.text())];
    },
    headers: async (mail) => [
      table(
        [],
        mail.headers.map(({ name, value }) => [name, value]),
      ),
    ],
    attachments: async (mail) => [
      element(
        "ul",
        "files",
        ...mail.attachments.map((file, i) =>
          element(
            "li",
            "",
            link(file.filename || "attachment", `/dashboard/mail/${mail.id}/attachments/${i}`, file.filename),
            element("span", "quiet", ` ${file.contentType} · ${format.bytes(file.size)}${file.contentId ? " · inline" : ""}`),
          ),
        ),
      ),
    ],
  };

  /** The tabs that have nothing to show. */
  const listEmpty = ({ html, text, attachments }: Detail): string[] =>
    Object.entries({ html, text, attachments: attachments[0] ?? null }).flatMap(([name, part]) => (part === null ? name : []));

  const drawTab = (): void => {
    const mail = open;
    if (!mail) return;
    const there = Object.fromEntries(listEmpty(mail).map((name) => [name, false]));
    const { length } = mail.attachments;
    const panel = strip.mark(there, { attachments: length > 0 ? `Attachments ${length}` : "Attachments" });
    const asked = strip.chosen();
    handle(async () => {
      const content = (await panels[asked]?.(mail)) ?? [];
      if (open?.id === mail.id && asked === strip.chosen()) panel.replaceChildren(...content);
    })();
  };

  const show = async (id: string): Promise<void> => {
    const mail = await call<Detail>("GET", `/__dev/inbox/${encodeURIComponent(id)}`);
    open = mail;
    remote = false;
    if (listEmpty(mail).includes(strip.chosen())) strip.choose(mail.html === null ? "text" : "html");
    history.replaceState(null, "", `#${id}`);
    document.body.classList.add("reading");
    byId("open").hidden = false;
    byId("empty").hidden = true;
    byId("subject").textContent = mail.subject || "(no subject)";
    byId("facts").replaceChildren(
      ...fact("From", mail.from),
      ...fact("To", mail.to),
      ...fact("At", `${format.clockTime(Date.parse(mail.receivedAt))} · ${format.bytes(mail.size)}`),
      ...(mail.emailId === null || mail.workspaceId === null
        ? []
        : [element("dt", "", "Email"), element("dd", "", link(mail.emailId, `#activity/${mail.workspaceId}/${mail.emailId}`))]),
    );
    changed();
    document.querySelector("#mails [aria-current]")?.scrollIntoView({ block: "nearest" });
    drawTab();
  };
  const close = (): void => {
    open = null;
    // It may be deleted while another list is shown.
    if (!byId("inbox").hidden) {
      history.replaceState(null, "", location.pathname);
      document.body.classList.remove("reading");
    }
    byId("open").hidden = true;
    byId("empty").hidden = false;
    changed();
  };
  return {
    /** The id of the open mail; empty when none is open. */
    current: () => open?.id ?? "",
    show,
    close,
    start: (): void => {
      byId("back").onclick = close;
      strip.start(drawTab);
    },
  };
}
export type MailView = ReturnType<typeof mailView>;
