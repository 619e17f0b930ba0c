import type { Delivery } from "@mailsvc/sdk/contract";
import type { EventView } from "./event.ts";
import type { Times } from "./times.ts";
import type { Tools } from "./tools.ts";

/** The list of what was sent to the webhooks of all listings, asked for every other second while it is looked at. */
export function events({ at, make, button, call, doing, sleep }: Tools, times: Times, view: EventView) {
  const LOOK_MS = 2000;
  let all: (Delivery & { slug: string })[] = [];
  let known = "";
  let query = "";
  let watched = false;

  const matches = ({ type, slug, state, activationId, id, runId }: (typeof all)[number]): boolean =>
    `${type}\n${slug}\n${state}\n${activationId}\n${id}\n${runId}`.toLowerCase().includes(query.toLowerCase());

  const draw = (): void => {
    const shown = all.filter(matches);
    at("events").replaceChildren(
      ...shown.map((sent) => {
        const tries = sent.attempts === 1 ? "1 attempt" : `${sent.attempts} attempts`;
        const row = button(
          "",
          doing(() => view.show(sent.slug, sent.id)),
          make("span", "who", sent.type),
          make("time", "quiet", times.when(sent.timestamp)),
          make("span", "subject", make("span", `state ${sent.state}`, sent.state), make("span", "quiet", ` ${tries}`)),
          make("span", "from quiet", `${sent.slug} · ${sent.activationId}`),
        );
        if (sent.id === view.current()) row.setAttribute("aria-current", "true");
        return make("li", "", row);
      }),
    );
    at("event-count").textContent = query
      ? `${shown.length} found in ${all.length}`
      : all.length === 1
        ? "1 event"
        : `${all.length}${all.length >= 200 ? " newest" : ""} events`;
    if (watched) document.title = "Webhooks · mailsvc";
    const lines =
      all.length > 0
        ? [make("p", "", shown.length === 0 ? "Nothing matches." : "Choose an event to see its bytes and attempts.")]
        : [
            make("p", "", "Nothing was sent to a webhook yet. List an agent and turn it on:"),
            make(
              "pre",
              "",
              "mailsvc listings create --slug my-agent --name 'My agent' \\\n  --webhook-url http://127.0.0.1:4000/webhook --permission agent:write_runs\nmailsvc deliveries test my-agent\nmailsvc listings checkout my-agent   # then pay, as it says\nmailsvc activations create my-agent",
            ),
          ];
    at("no-event").replaceChildren(...lines);
  };

  const refresh = async (): Promise<void> => {
    const { data } = await call<{ data: typeof all }>("GET", "/dashboard/events");
    const text = JSON.stringify(data);
    const changed = text !== known;
    known = text;
    all = data;
    draw();
    if (!changed || view.current() === "") return;
    if (all.some(({ id }) => id === view.current())) await view.again();
    else view.close();
  };
  return {
    draw,
    refresh,
    watch: (on: boolean): void => {
      watched = on;
    },
    /** Opens the event so many places further down. */
    move: (by: number): void => {
      const shown = all.filter(matches);
      const from = shown.findIndex(({ id }) => id === view.current());
      const to = shown[from < 0 ? 0 : Math.min(Math.max(from + by, 0), shown.length - 1)];
      if (to && to.id !== view.current()) doing(() => view.show(to.slug, to.id))();
    },
    start: (): void => {
      const search = at<HTMLInputElement>("event-search");
      search.oninput = () => {
        query = search.value.trim();
        draw();
      };
      const look = async (): Promise<void> => {
        for (;;) {
          if (watched && !document.hidden) await refresh().catch(() => {});
          await sleep(LOOK_MS);
        }
      };
      void look();
    },
  };
}
export type EventList = ReturnType<typeof events>;
