import type { CapturedMail, ClockState, contract, Output, Page } from "@mailsvc/sdk/contract";

type Detail = Output<typeof contract.inbox.get>;

/**
 * The program of the inbox page. It is sent to the browser as its own text, so it uses nothing from outside itself.
 * Whatever a mail says is put in as text, never as markup.
 */
export const client = (): void => {
  const PAGE = 100;
  const WAIT_SECONDS = 20;
  const RETRY_MS = 2000;
  const TICK_MS = 1000;
  const NOTICE_MS = 4000;
  const MAX_SHOWN = 500_000;
  const MINUTE = 60_000;
  const REMOTE =
    /(?:src|srcset|background|poster|href)\s*=\s*["']?\s*(?:https?:)?\/\/[^"'\s>]+\.(?:png|jpe?g|gif|webp|svg|css|avif)|<(?:img|video|audio|source|link)[^>]+(?:https?:)?\/\/|url\(\s*["']?\s*(?:https?:)?\/\//i;

  const at = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
  const make = (tag: string, name: string, ...inside: (Node | string)[]): HTMLElement => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    node.append(...inside);
    return node;
  };
  const sleep = (ms: number): Promise<void> => new Promise((done) => window.setTimeout(done, ms));

  let mails: CapturedMail[] = [];
  let total = 0;
  let wanted = PAGE;
  let newest = "";
  let query = "";
  let open: Detail | null = null;
  let tab = "html";
  let remote = false;
  let frozen = false;
  let serverNow = 0;
  let waiting = new AbortController();
  let noticeTimer = 0;

  const notice = (text: string, bad = false): void => {
    const line = at("notice");
    line.textContent = text;
    line.className = bad ? "bad" : "";
    window.clearTimeout(noticeTimer);
    noticeTimer = window.setTimeout(() => line.replaceChildren(), NOTICE_MS);
  };

  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(path, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    const answer = (await response.json()) as T & { error?: { message: string } };
    if (!response.ok) throw new Error(answer.error?.message ?? `The server answered ${response.status}.`);
    return answer;
  };
  const doing = (work: () => Promise<void>) => (): void => {
    work().catch((error: Error) => notice(error.message, true));
  };

  const clockTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  const span = (ms: number): string => {
    const units: [string, number][] = [
      ["d", 86_400_000],
      ["h", 3_600_000],
      ["m", MINUTE],
      ["s", 1000],
    ];
    const first = units.findIndex(([, size]) => ms >= size);
    if (first < 0) return "less than 1s";
    let rest = ms;
    const parts: string[] = [];
    for (const [unit, size] of units.slice(first, first + 2)) {
      if (rest >= size) parts.push(`${Math.floor(rest / size)}${unit}`);
      rest %= size;
    }
    return parts.join(" ");
  };
  const when = (iso: string): string => {
    const time = Date.parse(iso);
    const age = serverNow - time;
    if (serverNow > 0 && age >= 0 && age < MINUTE) return "now";
    if (serverNow > 0 && age >= 0 && age < 60 * MINUTE) return `${Math.floor(age / MINUTE)} min`;
    const sameDay = serverNow > 0 && new Date(serverNow).toDateString() === new Date(time).toDateString();
    return sameDay
      ? new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
      : new Date(time).toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" });
  };
  const bytes = (n: number): string =>
    n < 1024 ? `${n} B` : n < 1_048_576 ? `${(n / 1024).toFixed(1)} KB` : `${(n / 1_048_576).toFixed(1)} MB`;
  const sender = (from: string): string => /^\s*"?([^"<]+?)"?\s*<.*>$/.exec(from)?.[1] ?? from;

  // The list

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
  const matches = ({ to, from, subject }: CapturedMail): boolean =>
    `${to}\n${from}\n${subject}`.toLowerCase().includes(query.toLowerCase());

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
    const shown = asked ? [...all.items.filter(matches), ...found.flatMap((f) => f.items)] : all.items;
    mails = [...new Map(shown.map((m) => [m.id, m])).values()].sort((a, b) => (a.id < b.id ? 1 : -1));
    drawList();
    if (open && !asked && !all.items.some((m) => m.id === open?.id) && all.total <= all.items.length) close();
  };

  const drawList = (): void => {
    at("mails").replaceChildren(
      ...mails.map((mail) => {
        const row = make(
          "button",
          "",
          make("span", "who", mail.to),
          make("time", "quiet", when(mail.receivedAt)),
          make("span", "subject", mail.subject || "(no subject)"),
          make("span", "from quiet", sender(mail.from)),
        );
        row.setAttribute("type", "button");
        if (mail.id === open?.id) row.setAttribute("aria-current", "true");
        row.addEventListener(
          "click",
          doing(() => show(mail.id)),
        );
        return make("li", "", row);
      }),
    );
    at("more").hidden = query !== "" || mails.length >= total;
    at("count").textContent = query ? `${mails.length} found in ${total}` : total === 1 ? "1 mail" : `${total} mails`;
    document.title = `${total ? `(${total}) ` : ""}Inbox · mailsvc`;
    drawEmpty();
  };

  const drawEmpty = (): void => {
    const lines =
      total > 0
        ? [make("p", "", query && mails.length === 0 ? "Nothing matches." : "Choose a mail to read it.")]
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

  // One mail

  const show = async (id: string): Promise<void> => {
    const mail = await call<Detail>("GET", `/__dev/inbox/${encodeURIComponent(id)}`);
    open = mail;
    remote = false;
    if ((tab === "html" && mail.html === null) || (tab === "text" && mail.text === null)) tab = mail.html === null ? "text" : "html";
    if (tab === "attachments" && mail.attachments.length === 0) tab = mail.html === null ? "text" : "html";
    history.replaceState(null, "", `#${id}`);
    document.body.classList.add("reading");
    at("open").hidden = false;
    at("empty").hidden = true;
    at("subject").textContent = mail.subject || "(no subject)";
    const fact = (name: string, value: string): HTMLElement[] => [make("dt", "", name), make("dd", "", value)];
    at("facts").replaceChildren(
      ...fact("From", mail.from),
      ...fact("To", mail.to),
      ...fact("At", `${clockTime(Date.parse(mail.receivedAt))} · ${bytes(mail.size)}`),
      ...(mail.emailId ? fact("Email", mail.emailId) : []),
    );
    drawList();
    document.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
    drawTab();
  };

  const close = (): void => {
    open = null;
    history.replaceState(null, "", location.pathname);
    document.body.classList.remove("reading");
    at("open").hidden = true;
    at("empty").hidden = false;
    drawList();
  };

  const lines = (text: string): HTMLElement[] => {
    const box = make("pre", "", text.slice(0, MAX_SHOWN));
    return text.length > MAX_SHOWN ? [make("p", "bar", "Only the beginning is shown; save the mail to see all of it."), box] : [box];
  };
  const link = (text: string, href: string, name?: string): HTMLElement => {
    const a = make("a", "", text) as HTMLAnchorElement;
    a.href = href;
    if (name !== undefined) a.download = name;
    return a;
  };

  const panels: Record<string, (mail: Detail) => Promise<HTMLElement[]>> = {
    html: async (mail) => {
      const frame = document.createElement("iframe");
      frame.title = "The mail as HTML";
      // No scripts, no forms, no origin; links may open tabs.
      frame.setAttribute("sandbox", "allow-popups allow-popups-to-escape-sandbox");
      frame.referrerPolicy = "no-referrer";
      frame.src = `/dashboard/mail/${mail.id}${remote ? "?remote=1" : ""}`;
      if (remote || !REMOTE.test(mail.html ?? "")) return [frame];
      const load = make("button", "", "Load it");
      load.setAttribute("type", "button");
      load.addEventListener("click", () => {
        remote = true;
        drawTab();
      });
      return [make("p", "bar", "Content from other servers is blocked. ", load), frame];
    },
    text: async (mail) => lines(mail.text ?? ""),
    source: async (mail) => {
      const path = `/__dev/inbox/${mail.id}/raw`;
      const response = await fetch(path);
      return [make("p", "bar", link("Save as .eml", path, `${mail.id}.eml`)), ...lines(await response.text())];
    },
    headers: async (mail) => [
      make(
        "table",
        "",
        make("tbody", "", ...mail.headers.map(({ name, value }) => make("tr", "", make("th", "", name), make("td", "", value)))),
      ),
    ],
    attachments: async (mail) => [
      make(
        "ul",
        "files",
        ...mail.attachments.map((file, i) =>
          make(
            "li",
            "",
            link(file.filename || "attachment", `/dashboard/mail/${mail.id}/attachments/${i}`, file.filename),
            make("span", "quiet", ` ${file.contentType} · ${bytes(file.size)}${file.contentId ? " · inline" : ""}`),
          ),
        ),
      ),
    ],
  };

  const drawTab = (): void => {
    const mail = open;
    if (!mail) return;
    const there: Record<string, boolean> = { html: mail.html !== null, text: mail.text !== null, attachments: mail.attachments.length > 0 };
    for (const button of document.querySelectorAll<HTMLButtonElement>("[data-tab]")) {
      const name = button.dataset["tab"] ?? "";
      button.setAttribute("aria-selected", String(name === tab));
      button.disabled = there[name] === false;
      if (name === "attachments")
        button.textContent = mail.attachments.length > 0 ? `Attachments ${mail.attachments.length}` : "Attachments";
    }
    const panel = at("panel");
    panel.className = tab;
    panel.setAttribute("aria-labelledby", `tab-${tab}`);
    const asked = tab;
    doing(async () => {
      const content = (await panels[asked]?.(mail)) ?? [];
      if (open?.id === mail.id && asked === tab) panel.replaceChildren(...content);
    })();
  };

  const move = (by: number): void => {
    const from = mails.findIndex((m) => m.id === open?.id);
    const to = mails[from < 0 ? 0 : Math.min(Math.max(from + by, 0), mails.length - 1)];
    if (to && to.id !== open?.id) doing(() => show(to.id))();
  };

  // The clock

  const drawClock = ({ now, mode, next }: ClockState): void => {
    const before = serverNow;
    serverNow = Date.parse(now);
    frozen = mode === "frozen";
    at("mode").textContent = frozen ? "Frozen" : "Running";
    at("mode").className = `mode ${mode}`;
    at("now").textContent = clockTime(serverNow);
    at("freeze").textContent = frozen ? "Thaw" : "Freeze";
    at<HTMLButtonElement>("next").disabled = next === null;
    at("upcoming").textContent = next ? `Next: ${next.name} in ${span(Date.parse(next.at) - serverNow)}` : "No timer waits";
    // Back in time, or days ahead: the whole world was put somewhere else.
    if (serverNow < before) waiting.abort();
  };
  const turn = async (path: string, body?: object): Promise<void> => {
    const before = serverNow;
    const state = await call<ClockState>("POST", `/__dev/clock/${path}`, body ?? {});
    drawClock(state);
    drawList();
    if (path === "freeze" || path === "thaw") return;
    const names = new Map<string, number>();
    for (const { name } of state.fired) names.set(name, (names.get(name) ?? 0) + 1);
    const fired = [...names].map(([name, n]) => (n > 1 ? `${name} × ${n}` : name)).join(", ");
    notice(`${span(Date.parse(state.now) - before)} passed${fired ? `: ${fired}` : ", nothing was due"}`);
  };
  const tick = async (): Promise<void> => {
    for (;;) {
      if (!document.hidden) await call<ClockState>("GET", "/__dev/clock").then(drawClock, () => {});
      await sleep(TICK_MS);
    }
  };

  // The whole world

  const ask = (question: string, yes: string, work: () => Promise<void>) => (): void => {
    const dialog = at<HTMLDialogElement>("ask");
    at("question").textContent = question;
    at("yes").textContent = yes;
    at("yes").onclick = () => {
      dialog.close();
      doing(work)();
    };
    dialog.showModal();
    at("no").focus();
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

  const start = (): void => {
    at("freeze").onclick = doing(() => turn(frozen ? "thaw" : "freeze"));
    at("advance").onclick = doing(() => turn("advance", { by: "15m" }));
    at("next").onclick = doing(() => turn("next"));
    at("back").onclick = close;
    at("no").onclick = () => at<HTMLDialogElement>("ask").close();
    at("more").onclick = doing(() => {
      wanted += PAGE;
      return refresh();
    });
    at("clear").onclick = ask("Delete all captured mail?", "Delete", async () => {
      const { deleted } = await call<{ deleted: number }>("DELETE", "/__dev/inbox");
      close();
      notice(`${deleted} deleted`);
      waiting.abort();
    });
    at("reset").onclick = ask(
      "Start over? Mail, emails, keys, senders and suppressions go; the first key stays.",
      "Start over",
      async () => {
        await call("POST", "/__dev/reset", {});
        close();
        notice("A fresh world");
        waiting.abort();
      },
    );
    const search = at<HTMLInputElement>("search");
    search.oninput = doing(() => {
      query = search.value.trim();
      return refresh();
    });
    for (const button of document.querySelectorAll<HTMLElement>("[data-tab]"))
      button.onclick = () => {
        tab = button.dataset["tab"] ?? "html";
        drawTab();
      };
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || at<HTMLDialogElement>("ask").open) return;
      if (event.target === search) {
        if (event.key === "Escape" || event.key === "Enter") search.blur();
        return;
      }
      if (event.key === "j") move(1);
      else if (event.key === "k") move(-1);
      else if (event.key === "Escape" && open) close();
      else if (event.key === "/") search.focus();
      else return;
      event.preventDefault();
    });
    void tick();
    void listen();
    const linked = location.hash.slice(1);
    if (linked) doing(() => show(linked))();
  };

  start();
};
