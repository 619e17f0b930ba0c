import type { Delivery } from "@mailsvc/sdk/contract";
import type { Dom } from "./dom.ts";
import type { EventView } from "./event-view.ts";
import type { Format } from "./format.ts";
import type { LiveList } from "./live-list.ts";

/** The newest events sent to webhooks. */
export function eventList(dom: Dom, format: Format, view: EventView, liveList: LiveList) {
  const { element } = dom;
  return liveList<Delivery & { slug: string }>(dom, {
    path: "/dashboard/events",
    ids: { rows: "events", count: "event-count", none: "no-event", search: "event-search" },
    title: "Webhooks · mailsvc",
    noun: "event",
    text: ({ type, slug, state, activationId, id, runId }) => `${type}\n${slug}\n${state}\n${activationId}\n${id}\n${runId}`,
    cells: ({ type, timestamp, state, attempts, slug, activationId }) => [
      element("span", "who", type),
      element("time", "quiet", format.when(timestamp)),
      element(
        "span",
        "subject",
        element("span", `state ${state}`, state),
        element("span", "quiet", attempts === 1 ? " 1 attempt" : ` ${attempts} attempts`),
      ),
      element("span", "from quiet", `${slug} · ${activationId}`),
    ],
    empty: () => [
      element("p", "", "No events yet. List an agent and activate it:"),
      element(
        "pre",
        "",
        "mailsvc listings create --slug my-agent --name 'My agent' \\\n  --webhook-url http://127.0.0.1:4000/webhook --permission agent:write_runs\nmailsvc deliveries test my-agent\nmailsvc listings checkout my-agent   # then pay, as it says\nmailsvc activations create my-agent",
      ),
    ],
    choose: "Choose an event to see its bytes and attempts.",
    view: { ...view, open: ({ slug, id }) => view.show(slug, id) },
  });
}
export type EventList = ReturnType<typeof eventList>;
