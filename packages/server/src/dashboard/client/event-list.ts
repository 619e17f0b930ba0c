import type { Delivery } from "@mailsvc/sdk/contract";
import type { Dom } from "./dom.ts";
import type { EventView } from "./event-view.ts";
import type { Format } from "./format.ts";

/** The newest events sent to webhooks, loaded every two seconds while they are shown. */
export function eventList({ byId, element, button, call, handle, sleep }: Dom, format: Format, view: EventView) {
  const POLL_MS = 2000;
  let all: (Delivery & { slug: string })[] = [];
  let known = "";
  let query = "";
  let shown = false;

  const matches = ({ type, slug, state, activationId, id, runId }: (typeof all)[number]): boolean =>
    `${type}\n${slug}\n${state}\n${activationId}\n${id}\n${runId}`.toLowerCase().includes(query.toLowerCase());

  const draw = (): void => {
    const found = all.filter(matches);
    byId("events").replaceChildren(
      ...found.map((sent) => {
        const tries = sent.attempts === 1 ? "1 attempt" : `${sent.attempts} attempts`;
        const row = button(
          "",
          handle(() => view.show(sent.slug, sent.id)),
          element("span", "who", sent.type),
          element("time", "quiet", format.when(sent.timestamp)),
          element("span", "subject", element("span", `state ${sent.state}`, sent.state), element("span", "quiet", ` ${tries}`)),
          element("span", "from quiet", `${sent.slug} · ${sent.activationId}`),
        );
        if (sent.id === view.current()) row.setAttribute("aria-current", "true");
        return element("li", "", row);
      }),
    );
    byId("event-count").textContent = query
      ? `${found.length} found in ${all.length}`
      : all.length === 1
        ? "1 event"
        : `${all.length}${all.length >= 200 ? " newest" : ""} events`;
    if (shown) document.title = "Webhooks · mailsvc";
    const lines =
      all.length > 0
        ? [element("p", "", found.length === 0 ? "Nothing matches." : "Choose an event to see its bytes and attempts.")]
        : [
            element("p", "", "No events yet. List an agent and activate it:"),
            element(
              "pre",
              "",
              "mailsvc listings create --slug my-agent --name 'My agent' \\\n  --webhook-url http://127.0.0.1:4000/webhook --permission agent:write_runs\nmailsvc deliveries test my-agent\nmailsvc listings checkout my-agent   # then pay, as it says\nmailsvc activations create my-agent",
            ),
          ];
    byId("no-event").replaceChildren(...lines);
  };

  const refresh = async (): Promise<void> => {
    const { data } = await call<{ data: typeof all }>("GET", "/dashboard/events");
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
    /** Opens the event `by` rows further down. */
    move: (by: number): void => {
      const found = all.filter(matches);
      const from = found.findIndex(({ id }) => id === view.current());
      const to = found[from < 0 ? 0 : Math.min(Math.max(from + by, 0), found.length - 1)];
      if (to && to.id !== view.current()) handle(() => view.show(to.slug, to.id))();
    },
    start: (): void => {
      const search = byId<HTMLInputElement>("event-search");
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
export type EventList = ReturnType<typeof eventList>;
