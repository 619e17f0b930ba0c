import type { EmailDetail } from "@mailsvc/sdk/contract";
import type { Dom } from "./dom.ts";
import type { Format } from "./format.ts";

/** One email, opened: its state, its facts and what has happened to it. `changed` is called when another one is opened, or none. */
export function emailView({ byId, element, fact, table, call }: Dom, format: Format, changed: () => void) {
  let opened: { workspaceId: string; detail: EmailDetail } | null = null;

  const time = (iso: string | null): string => (iso === null ? "" : format.clockTime(Date.parse(iso)));
  const ADVICE: Record<string, string> = {
    bounced: "The receiving server refused this email for good.",
    complained: "The recipient reported this email as spam.",
    suppressed: "The address was on the suppression list when the email was due.",
    failed: "Delivery was given up after all attempts.",
    deferred: "The receiving server asked to try again later.",
  };

  const KINDS = { to: "To", cc: "Cc", bcc: "Bcc" };

  /** The data of an event as text: the reply of the receiving server, then the other fields by name. */
  const describe = ({ diagnostic, smtpCode, enhancedCode, ...rest }: Record<string, unknown>): string => {
    const reply = typeof diagnostic === "string" ? [diagnostic] : [smtpCode, enhancedCode].filter(Boolean).map(String);
    const fields = Object.entries(rest).flatMap(([name, value]) => {
      if (value === null || value === undefined) return [];
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return [`${name}: ${/^\d{4}-\d\d-\d\dT/.test(text) ? time(text) : text}`];
    });
    return [...reply, ...fields].join(" · ");
  };

  const draw = (): void => {
    if (!opened) return;
    const { detail } = opened;
    byId("email-subject").textContent = detail.subject || "(no subject)";
    byId("email-facts").replaceChildren(
      element("dt", "", "State"),
      element("dd", "", element("span", `state ${detail.status}`, detail.status)),
      ...fact("From", detail.from),
      ...(detail.recipients.length === 1
        ? fact("To", detail.to)
        : detail.recipients.flatMap(({ email, kind, status }) => fact(KINDS[kind], `${email} (${status})`))),
      ...fact("Created", time(detail.createdAt)),
      ...fact("Scheduled", time(detail.scheduledAt)),
      ...fact("Attempts", String(detail.attempts)),
      ...fact("Next attempt", time(detail.nextAttemptAt)),
      ...fact("Template", detail.template === null ? "" : `${detail.template.slug}, version ${detail.template.version}`),
      ...fact("Email", detail.id),
      ...fact("Message-ID", detail.messageId),
    );
    const advice = ADVICE[detail.status];
    byId("email-advice").hidden = advice === undefined;
    byId("email-advice").replaceChildren(
      ...(advice === undefined ? [] : [element("span", "", advice)]),
      ...(detail.lastError === null ? [] : [element("code", "", detail.lastError.message)]),
    );
    byId("timeline").replaceChildren(
      table(
        ["Event", "At", "Details"],
        detail.events.map(({ type, at, recipient, data }) => {
          const name = type.replace("email.", "");
          const who = detail.recipients.length === 1 ? {} : { recipient: recipient.email };
          return [element("span", `state ${name}`, name), time(at), describe({ ...who, ...data })];
        }),
      ),
    );
  };

  const load = async (workspaceId: string, id: string): Promise<void> => {
    const detail = await call<EmailDetail>("GET", `/dashboard/emails/${encodeURIComponent(workspaceId)}/${encodeURIComponent(id)}`);
    opened = { workspaceId, detail };
    draw();
  };
  const open = async (workspaceId: string, id: string): Promise<void> => {
    await load(workspaceId, id);
    history.replaceState(null, "", `#activity/${workspaceId}/${id}`);
    document.body.classList.add("reading");
    byId("email").hidden = false;
    byId("no-email").hidden = true;
    changed();
  };
  const close = (): void => {
    opened = null;
    if (!byId("activity").hidden) {
      history.replaceState(null, "", "#activity");
      document.body.classList.remove("reading");
    }
    byId("email").hidden = true;
    byId("no-email").hidden = false;
    changed();
  };
  return {
    /** The id of the open email; empty when none is open. */
    current: () => opened?.detail.id ?? "",
    open,
    close,
    /** Loads the open email again. */
    reload: async (): Promise<void> => {
      if (opened) await load(opened.workspaceId, opened.detail.id);
    },
    start: (): void => {
      byId("email-back").onclick = close;
    },
  };
}
export type EmailView = ReturnType<typeof emailView>;
