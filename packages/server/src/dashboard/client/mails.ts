import type { CapturedMail, Page } from "@mailsvc/sdk/contract";
import type { MailView } from "./mail.ts";
import type { Times } from "./times.ts";
import type { Tools } from "./tools.ts";

/** The list of captured mail: there the moment it is delivered, searched, walked through. */
export function mails({ at, make, button, call, doing, notice, sleep, ask }: Tools, times: Times, view: MailView) {
  const PAGE = 100;
  const WAIT_SECONDS = 20;
  const RETRY_MS = 2000;
  let shown: CapturedMail[] = [];
  let total = 0;
  let wanted = PAGE;
  let newest = "";
  let query = "";
  let waiting = new AbortController();

  const sender = (from: string): string => /^\s*"?([^"<]+?)"?\s*<.*>$/.exec(from)?.[1] ?? from;
  const matches = ({ to, from, subject }: CapturedMail): boolean =>
    `${to}\n${from}\n${subject}`.toLowerCase().includes(query.toLowerCase());

  const fetchList = async (filter: string, count: number): Promise<{ items: CapturedMail[]; total: number }> => {
    const items: CapturedMail[] = [];
    let cursor = "";
    for (;;) {
      const page = await call<Page<CapturedMail>>("GET", `/__dev/inbox?limit=${PAGE}${filter}${cursor}`);
      items.push(...page.data);
      const { nextCursor, total: all } = page.pagination;
      if (nextCursor === null || items.length >= count) return { items, total: all };
      cursor = `&cursor=${encodeURIComponent(nextCursor)}`;
    }
  };

  const drawEmpty = (): void => {
    const lines =
      total > 0
        ? [make("p", "", query && shown.length === 0 ? "Nothing matches." : "Choose a mail to read it.")]
        : [
            make("p", "", "No mail yet. It appears here the moment it is delivered."),
            make(
              "pre",
              "",
              `curl ${location.origin}/api/v1/send \\\n  -H "Authorization: Bearer $MAILSVC_API_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '{"from":"hello@acme.example","to":"ada@example.com","subject":"Hello","text":"It works."}'`,
            ),
          ];
    at("empty").replaceChildren(...lines);
  };
  const draw = (): void => {
    at("mails").replaceChildren(
      ...shown.map((mail) => {
        const row = button(
          "",
          doing(() => view.show(mail.id)),
          make("span", "who", mail.to),
          make("time", "quiet", times.when(mail.receivedAt)),
          make("span", "subject", mail.subject || "(no subject)"),
          make("span", "from quiet", sender(mail.from)),
        );
        if (mail.id === view.current()) row.setAttribute("aria-current", "true");
        return make("li", "", row);
      }),
    );
    at("more").hidden = query !== "" || shown.length >= total;
    at("count").textContent = query ? `${shown.length} found in ${total}` : total === 1 ? "1 mail" : `${total} mails`;
    if (!at("inbox").hidden) document.title = `${total ? `(${total}) ` : ""}Inbox · mailsvc`;
    drawEmpty();
  };

  const refresh = async (): Promise<void> => {
    const asked = query;
    const text = encodeURIComponent(asked);
    const lists = [fetchList("", wanted)];
    // What is not loaded is found by the server: subjects by a part of them, recipients by the whole address.
    if (asked) lists.push(fetchList(`&subject=${text}`, PAGE));
    if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(asked)) lists.push(fetchList(`&to=${text}`, PAGE).catch(() => ({ items: [], total: 0 })));
    const [all, ...found] = await Promise.all(lists);
    if (asked !== query || !all) return;
    newest = all.items[0]?.id ?? "";
    total = all.total;
    const fitting = asked ? [...all.items.filter(matches), ...found.flatMap((f) => f.items)] : all.items;
    shown = [...new Map(fitting.map((m) => [m.id, m])).values()].sort((a, b) => (a.id < b.id ? 1 : -1));
    draw();
    const open = view.current();
    if (open && !asked && !all.items.some((m) => m.id === open) && all.total <= all.items.length) view.close();
  };

  const listen = async (): Promise<void> => {
    for (;;) {
      try {
        await refresh();
        document.body.classList.remove("offline");
        waiting = new AbortController();
        const after = newest ? `&after=${newest}` : "";
        const response = await fetch(`/__dev/inbox/wait?timeout=${WAIT_SECONDS}${after}`, { signal: waiting.signal });
        // 404 says that nothing came, 200 that something did; what it is comes with the list.
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
  /** Looks again now, without waiting for mail. */
  const again = (): void => waiting.abort();

  return {
    draw,
    again,
    /** Opens the mail so many places further down. */
    move: (by: number): void => {
      const from = shown.findIndex((m) => m.id === view.current());
      const to = shown[from < 0 ? 0 : Math.min(Math.max(from + by, 0), shown.length - 1)];
      if (to && to.id !== view.current()) doing(() => view.show(to.id))();
    },
    start: (): void => {
      at("more").onclick = doing(() => {
        wanted += PAGE;
        return refresh();
      });
      at("clear").onclick = ask("Delete all captured mail?", "Delete", async () => {
        const { deleted } = await call<{ deleted: number }>("DELETE", "/__dev/inbox");
        view.close();
        notice(`${deleted} deleted`);
        again();
      });
      const search = at<HTMLInputElement>("search");
      search.oninput = doing(() => {
        query = search.value.trim();
        return refresh();
      });
      void listen();
    },
  };
}
export type MailList = ReturnType<typeof mails>;
