import type { DeliveryAttempt, DeliveryDetail } from "@mailsvc/sdk/contract";
import type { Times } from "./times.ts";
import type { Tools } from "./tools.ts";

/** One event that was sent to a webhook, opened: its facts, its bytes, its attempts and what the webhook answered last. */
export function event({ at, make, fact, lines, table, call }: Tools, times: Times, changed: () => void) {
  let open: { slug: string; detail: DeliveryDetail } | null = null;
  let tab = "body";

  const outcome = ({ class: kind, httpStatus }: DeliveryAttempt): string =>
    kind === "http_status" ? `status ${httpStatus}` : httpStatus === null ? kind : `${kind} ${httpStatus}`;
  const indented = (body: string): string => {
    try {
      return JSON.stringify(JSON.parse(body), null, 2);
    } catch {
      return body;
    }
  };
  const time = (iso: string | null): string => (iso === null ? "" : times.clockTime(Date.parse(iso)));

  const panels: Record<string, (detail: DeliveryDetail) => HTMLElement[]> = {
    body: ({ body }) => lines(indented(body)),
    attempts: ({ log }) => [
      table(
        ["No", "Outcome", "At", "Took", "What"],
        log.map((a) => [
          String(a.attempt),
          make("span", a.class === "ok" ? "state delivered" : "state dead", outcome(a)),
          time(a.at),
          `${a.ms} ms`,
          a.message ?? "",
        ]),
      ),
    ],
    answer: ({ log }) => lines(log.at(-1)?.answer ?? ""),
  };

  const drawTab = (): void => {
    if (!open) return;
    const { detail } = open;
    const last = detail.log.at(-1);
    const there: Record<string, boolean> = { attempts: detail.log.length > 0, answer: (last?.answer ?? null) !== null };
    if (there[tab] === false) tab = "body";
    for (const button of document.querySelectorAll<HTMLButtonElement>("#event [data-tab]")) {
      const name = button.dataset["tab"] ?? "";
      button.setAttribute("aria-selected", String(name === tab));
      button.disabled = there[name] === false;
      if (name === "attempts") button.textContent = detail.log.length > 0 ? `Attempts ${detail.log.length}` : "Attempts";
    }
    const panel = at("event-panel");
    panel.className = `panel ${tab}`;
    panel.setAttribute("aria-labelledby", `tab-${tab}`);
    panel.replaceChildren(...(panels[tab]?.(detail) ?? []));
  };

  const draw = (): void => {
    if (!open) return;
    const { slug, detail } = open;
    const last = detail.log.at(-1);
    // What was overtaken need not be sent again.
    const failed = last !== undefined && last.class !== "ok" && !["superseded", "cancelled"].includes(detail.state);
    at("event-type").textContent = detail.type;
    at("event-facts").replaceChildren(
      make("dt", "", "State"),
      make("dd", "", make("span", `state ${detail.state}`, detail.state)),
      ...fact("Agent", slug),
      ...fact("Activation", detail.activationId),
      ...fact("Run", detail.runId ?? ""),
      ...fact("Event", `${detail.id}, no. ${detail.sequence} of its activation`),
      ...fact("Happened", time(detail.timestamp)),
      ...fact("Settled", time(detail.settledAt)),
      ...fact("Next attempt", time(detail.nextAttemptAt)),
    );
    const again = make("code", "", `mailsvc deliveries redeliver ${slug} ${detail.id}`);
    at("event-advice").hidden = !failed;
    at("event-advice").replaceChildren(...(failed ? [make("span", "", last.hint), make("span", "", "Send it again: ", again)] : []));
    drawTab();
  };

  const load = async (slug: string, id: string): Promise<void> => {
    const detail = await call<DeliveryDetail>("GET", `/dashboard/events/${encodeURIComponent(slug)}/${encodeURIComponent(id)}`);
    open = { slug, detail };
    draw();
  };
  const show = async (slug: string, id: string): Promise<void> => {
    await load(slug, id);
    history.replaceState(null, "", `#webhooks/${slug}/${id}`);
    document.body.classList.add("reading");
    at("event").hidden = false;
    at("no-event").hidden = true;
    changed();
  };
  const close = (): void => {
    open = null;
    if (!at("webhooks").hidden) {
      history.replaceState(null, "", "#webhooks");
      document.body.classList.remove("reading");
    }
    at("event").hidden = true;
    at("no-event").hidden = false;
    changed();
  };
  return {
    /** The id of the event that is open; empty when none is. */
    current: () => open?.detail.id ?? "",
    show,
    close,
    /** Asks for the open event anew. */
    again: async (): Promise<void> => {
      if (open) await load(open.slug, open.detail.id);
    },
    start: (): void => {
      at("event-back").onclick = close;
      for (const button of document.querySelectorAll<HTMLElement>("#event [data-tab]"))
        button.onclick = () => {
          tab = button.dataset["tab"] ?? "body";
          drawTab();
        };
    },
  };
}
export type EventView = ReturnType<typeof event>;
