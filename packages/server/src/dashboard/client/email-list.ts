import type { Email } from "@mailsvc/sdk/contract";
import type { Dom } from "./dom.ts";
import type { EmailView } from "./email-view.ts";
import type { Format } from "./format.ts";

/** The newest emails in every state, loaded every two seconds while they are shown. */
export function emailList({ byId, element, button, call, handle, sleep }: Dom, format: Format, view: EmailView) {
  const POLL_MS = 2000;
  let all: (Email & { workspaceId: string })[] = [];
  let known = "";
  let query = "";
  let shown = false;

  const matches = ({ to, from, subject, status, id }: (typeof all)[number]): boolean =>
    `${to}\n${from}\n${subject}\n${status}\n${id}`.toLowerCase().includes(query.toLowerCase());

  const draw = (): void => {
    const found = all.filter(matches);
    byId("emails").replaceChildren(
      ...found.map((email) => {
        const attempts = email.attempts > 1 ? ` ${email.attempts} attempts` : "";
        const row = button(
          "",
          handle(() => view.open(email.workspaceId, email.id)),
          element("span", "who", email.to),
          element("time", "quiet", format.when(email.createdAt)),
          element("span", "subject", email.subject || "(no subject)"),
          element("span", "from", element("span", `state ${email.status}`, email.status), element("span", "quiet", attempts)),
        );
        if (email.id === view.current()) row.setAttribute("aria-current", "true");
        return element("li", "", row);
      }),
    );
    const total = all.length === 1 ? "1 email" : `${all.length}${all.length >= 200 ? " newest" : ""} emails`;
    byId("email-count").textContent = query ? `${found.length} found in ${all.length}` : total;
    if (shown) document.title = "Activity · mailsvc";
    const hint =
      all.length === 0 ? "No email yet. Every email is listed here, with its state." : "Choose an email to see what happened to it.";
    byId("no-email").replaceChildren(element("p", "", all.length > 0 && found.length === 0 ? "Nothing matches." : hint));
  };

  const refresh = async (): Promise<void> => {
    const { data } = await call<{ data: typeof all }>("GET", "/dashboard/emails");
    const text = JSON.stringify(data);
    const changed = text !== known;
    known = text;
    all = data;
    draw();
    if (!changed || view.current() === "") return;
    if (all.some(({ id }) => id === view.current())) await view.reload();
    else view.close();
  };
  return {
    draw,
    refresh,
    watch: (on: boolean): void => {
      shown = on;
    },
    /** Opens the email `by` rows further down. */
    move: (by: number): void => {
      const found = all.filter(matches);
      const from = found.findIndex(({ id }) => id === view.current());
      const to = found[from < 0 ? 0 : Math.min(Math.max(from + by, 0), found.length - 1)];
      if (to && to.id !== view.current()) handle(() => view.open(to.workspaceId, to.id))();
    },
    start: (): void => {
      const search = byId<HTMLInputElement>("email-search");
      search.oninput = () => {
        query = search.value.trim();
        draw();
      };
      const poll = async (): Promise<void> => {
        for (;;) {
          if (shown && !document.hidden) await refresh().catch(() => {});
          await sleep(POLL_MS);
        }
      };
      void poll();
    },
  };
}
export type EmailList = ReturnType<typeof emailList>;
