import type { CapturedMail } from "@mailsvc/sdk/contract";
import type { Dom } from "./dom.ts";
import type { Format } from "./format.ts";
import type { MailSearch } from "./mail-search.ts";
import type { MailView } from "./mail-view.ts";

/** The list of captured mail, updated the moment a mail is delivered. */
export function mailList(
  { byId, element, button, call, handle, notice, sleep, confirmFirst }: Dom,
  format: Format,
  view: MailView,
  search: MailSearch,
) {
  const WAIT_SECONDS = 20;
  const RETRY_MS = 2000;
  let shown: CapturedMail[] = [];
  let total = 0;
  let wanted = search.PAGE;
  let newest = "";
  let query = "";
  let waiting = new AbortController();

  const sender = (from: string): string => /^\s*"?([^"<]+?)"?\s*<.*>$/.exec(from)?.[1] ?? from;
  const drawEmpty = (): void => {
    const lines =
      total > 0
        ? [element("p", "", query && shown.length === 0 ? "Nothing matches." : "Choose a mail to read it.")]
        : [
            element("p", "", "No mail yet. It appears here the moment it is delivered."),
            element(
              "pre",
              "",
              `curl ${location.origin}/api/v1/send \\\n  -H "Authorization: Bearer $MAILSVC_API_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '{"from":"hello@acme.example","to":"ada@example.com","subject":"Hello","text":"It works."}'`,
            ),
          ];
    byId("empty").replaceChildren(...lines);
  };
  const draw = (): void => {
    byId("mails").replaceChildren(
      ...shown.map((mail) => {
        const row = button(
          "",
          handle(() => view.show(mail.id)),
          element("span", "who", mail.to),
          element("time", "quiet", format.when(mail.receivedAt)),
          element("span", "subject", mail.subject || "(no subject)"),
          element("span", "from quiet", sender(mail.from)),
        );
        if (mail.id === view.current()) row.setAttribute("aria-current", "true");
        return element("li", "", row);
      }),
    );
    byId("more").hidden = query !== "" || shown.length >= total;
    byId("count").textContent = query ? `${shown.length} found in ${total}` : total === 1 ? "1 mail" : `${total} mails`;
    if (!byId("inbox").hidden) document.title = `${total ? `(${total}) ` : ""}Inbox · mailsvc`;
    drawEmpty();
  };

  const refresh = async (): Promise<void> => {
    const asked = query;
    const { all, found, total: count } = await search.find(asked, wanted);
    if (asked !== query) return;
    newest = all[0]?.id ?? "";
    total = count;
    shown = found;
    draw();
    const open = view.current();
    if (open && !asked && !all.some((m) => m.id === open) && total <= all.length) view.close();
  };

  const listen = async (): Promise<void> => {
    for (;;) {
      try {
        await refresh();
        document.body.classList.remove("offline");
        waiting = new AbortController();
        const after = newest ? `&after=${newest}` : "";
        const response = await fetch(`/__dev/inbox/wait?timeout=${WAIT_SECONDS}${after}`, { signal: waiting.signal });
        // 200 means that a mail arrived, 404 that none did; the list is loaded again either way.
        if (!response.ok && response.status !== 404) throw new Error(`The server answered ${response.status}.`);
        await response.body?.cancel();
      } catch {
        if (waiting.signal.aborted) continue;
        document.body.classList.add("offline");
        notice("The server does not answer. Trying again …", true);
        await sleep(RETRY_MS);
      }
    }
  };
  /** Loads the list again now, without waiting for a mail. */
  const again = (): void => waiting.abort();

  return {
    draw,
    again,
    /** Opens the mail `by` rows further down. */
    move: (by: number): void => {
      const from = shown.findIndex((m) => m.id === view.current());
      const to = shown[from < 0 ? 0 : Math.min(Math.max(from + by, 0), shown.length - 1)];
      if (to && to.id !== view.current()) handle(() => view.show(to.id))();
    },
    start: (): void => {
      byId("more").onclick = handle(() => {
        wanted += search.PAGE;
        return refresh();
      });
      byId("clear").onclick = confirmFirst("Delete all captured mail?", "Delete", async () => {
        const { deleted } = await call<{ deleted: number }>("DELETE", "/__dev/inbox");
        view.close();
        notice(`${deleted} deleted`);
        again();
      });
      const field = byId<HTMLInputElement>("search");
      field.oninput = handle(() => {
        query = field.value.trim();
        return refresh();
      });
      void listen();
    },
  };
}
export type MailList = ReturnType<typeof mailList>;
