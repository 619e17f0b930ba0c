import type { DeliveryAttempt, DeliveryDetail } from "@mailsvc/sdk/contract";
import type { Dom } from "./dom.ts";
import type { Format } from "./format.ts";
import type { Tabs } from "./tabs.ts";

/** One event sent to a webhook, opened: its facts, body, attempts and the webhook's last response. */
export function eventView(dom: Dom, format: Format, tabs: Tabs, changed: () => void) {
  const { byId, element, fact, lines, table, call } = dom;
  let open: { slug: string; detail: DeliveryDetail } | null = null;
  const strip = tabs(dom, "event", "event-panel", "body");

  const outcome = ({ class: kind, httpStatus }: DeliveryAttempt): string =>
    kind === "http_status" ? `status ${httpStatus}` : httpStatus === null ? kind : `${kind} ${httpStatus}`;
  const indented = (body: string): string => {
    try {
      return JSON.stringify(JSON.parse(body), null, 2);
    } catch {
      return body;
    }
  };
  const time = (iso: string | null): string => (iso === null ? "" : format.clockTime(Date.parse(iso)));

  const panels: Record<string, (detail: DeliveryDetail) => HTMLElement[]> = {
    body: ({ body }) => lines(indented(body)),
    attempts: ({ log }) => [
      table(
        ["No", "Outcome", "At", "Took", "Details"],
        log.map((a) => [
          String(a.attempt),
          element("span", a.class === "ok" ? "state delivered" : "state dead", outcome(a)),
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
    if (there[strip.chosen()] === false) strip.choose("body");
    const panel = strip.mark(there, { attempts: detail.log.length > 0 ? `Attempts ${detail.log.length}` : "Attempts" });
    panel.replaceChildren(...(panels[strip.chosen()]?.(detail) ?? []));
  };

  const draw = (): void => {
    if (!open) return;
    const { slug, detail } = open;
    const last = detail.log.at(-1);
    // Superseded and cancelled events need not be sent again.
    const failed = last !== undefined && last.class !== "ok" && !["superseded", "cancelled"].includes(detail.state);
    byId("event-type").textContent = detail.type;
    byId("event-facts").replaceChildren(
      element("dt", "", "State"),
      element("dd", "", element("span", `state ${detail.state}`, detail.state)),
      ...fact("Agent", slug),
      ...fact("Activation", detail.activationId),
      ...fact("Run", detail.runId ?? ""),
      ...fact("Event", `${detail.id}, no. ${detail.sequence} of its activation`),
      ...fact("Happened", time(detail.timestamp)),
      ...fact("Settled", time(detail.settledAt)),
      ...fact("Next attempt", time(detail.nextAttemptAt)),
    );
    const again = element("code", "", `mailsvc deliveries redeliver ${slug} ${detail.id}`);
    byId("event-advice").hidden = !failed;
    byId("event-advice").replaceChildren(
      ...(failed ? [element("span", "", last.hint), element("span", "", "Send it again: ", again)] : []),
    );
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
    byId("event").hidden = false;
    byId("no-event").hidden = true;
    changed();
  };
  const close = (): void => {
    open = null;
    if (!byId("webhooks").hidden) {
      history.replaceState(null, "", "#webhooks");
      document.body.classList.remove("reading");
    }
    byId("event").hidden = true;
    byId("no-event").hidden = false;
    changed();
  };
  return {
    /** The id of the open event; empty when none is open. */
    current: () => open?.detail.id ?? "",
    show,
    close,
    /** Loads the open event again. */
    reload: async (): Promise<void> => {
      if (open) await load(open.slug, open.detail.id);
    },
    start: (): void => {
      byId("event-back").onclick = close;
      strip.start(drawTab);
    },
  };
}
export type EventView = ReturnType<typeof eventView>;
