import type { Email } from "@mailsvc/sdk/contract";
import type { Dom } from "./dom.ts";
import type { EmailView } from "./email-view.ts";
import type { Format } from "./format.ts";
import type { LiveList } from "./live-list.ts";

/** The newest emails in every state. */
export function emailList(dom: Dom, format: Format, view: EmailView, liveList: LiveList) {
  const { element } = dom;
  return liveList<Email & { workspaceId: string }>(dom, {
    path: "/dashboard/emails",
    ids: { rows: "emails", count: "email-count", none: "no-email", search: "email-search" },
    title: "Activity · mailsvc",
    noun: "email",
    text: ({ to, from, subject, status, id }) => `${to}\n${from}\n${subject}\n${status}\n${id}`,
    cells: ({ to, createdAt, subject, status, attempts }) => [
      element("span", "who", to),
      element("time", "quiet", format.when(createdAt)),
      element("span", "subject", subject || "(no subject)"),
      element(
        "span",
        "from",
        element("span", `state ${status}`, status),
        element("span", "quiet", attempts > 1 ? ` ${attempts} attempts` : ""),
      ),
    ],
    empty: () => [element("p", "", "No email yet. Every email is listed here, with its state.")],
    choose: "Choose an email to see what happened to it.",
    view: { ...view, open: ({ workspaceId, id }) => view.open(workspaceId, id) },
  });
}
export type EmailList = ReturnType<typeof emailList>;
