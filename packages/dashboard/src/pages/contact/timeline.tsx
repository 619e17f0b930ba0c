/** @jsxImportSource preact */
import type { ContactStatus, Event, Explanation } from "@mailsvc/sdk/contract";
import { toneOf } from "@mailsvc/sdk/contract/tones";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { Empty } from "../../parts/empty.tsx";
import { LinkedText } from "../../parts/linked-text.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { ObjectLink } from "../../parts/object-link.tsx";
import { type Resource, useEvents, useResource } from "../../parts/resource.ts";
import { Timeline, type TimelineItem } from "../../parts/timeline.tsx";
import { toHref } from "../../router.tsx";

interface Props {
  readonly explanation: Resource<Explanation>;
  readonly names: ReadonlyMap<string, string>;
}

// As many as a person looks through; the events page has all.
const REACTIONS = 50;

/** Everything that happened to a person, the newest first: also what they opened and clicked, as far as that was people and no machine. */
export function ContactTimeline({ id, explanation, names }: Props & { readonly id: string }) {
  const reactions = useResource(
    async (signal) => {
      if (!may("events:read")) return [];
      const query = { contact: id, type: "email.opened,email.clicked", machine: false, limit: REACTIONS } as const;
      return (await api.events.list(query, { signal })).data;
    },
    [id],
  );
  useEvents(({ type, contactId }) => contactId === id && /^email\.(?:opened|clicked)$/.test(type), reactions.reload);
  return (
    <Loaded from={explanation}>
      {({ timeline }) => {
        const items = [...timeline.toReversed().map((moment) => toItem(moment, names)), ...(reactions.data ?? []).map(toReaction)];
        if (items.length === 0) return <Empty title="Nothing has happened yet" />;
        return <Timeline items={items.sort((a, b) => Date.parse(b.at) - Date.parse(a.at))} />;
      }}
    </Loaded>
  );
}

function toItem({ at, what, why }: Explanation["timeline"][number], names: Props["names"]): TimelineItem {
  return {
    at,
    // The automation stands below, and its entries are on its page.
    what: <LinkedText text={what.replace(/, entry ent_\w+/, "")} names={names} />,
    why: why === null ? null : <Cause text={why} names={names} />,
    tone: toneOfHappening(what),
  };
}

function toReaction(event: Event): TimelineItem {
  const { at, type, emailId } = event;
  const url = type === "email.clicked" ? event.data.url : undefined;
  return {
    at,
    what: (
      <>
        {type === "email.clicked" ? "Clicked in " : "Opened "}
        {emailId === null ? "an email" : <ObjectLink id={emailId} />}
      </>
    ),
    why: url,
    tone: "good",
  };
}

/** Mail a person gets, and the reasons. */
export function Why({ explanation, names, status }: Props & { readonly status: ContactStatus }) {
  return (
    <Loaded from={explanation}>
      {({ summary }) => (
        <section class={`card summary ${toneOf(status)}`}>
          <h2>
            <LinkedText text={summary} names={names} />
          </h2>
        </section>
      )}
    </Loaded>
  );
}

function Cause({ text, names }: { readonly text: string; readonly names: ReadonlyMap<string, string> }) {
  const email = /^Its story: mailsvc why (em_\w+)$/.exec(text)?.[1];
  return email === undefined ? <LinkedText text={text} names={names} /> : <a href={toHref(`/activity/${email}`)}>Show what happened</a>;
}

function toneOfHappening(what: string): string {
  const status = /^Email .*: ([a-z]+)$/s.exec(what)?.[1];
  if (status !== undefined) return toneOf(status);
  if (/^(?:Unsubscribed|Marked|The address was suppressed)/.test(what)) return "bad";
  return /^(?:Created|Subscribed|Joined|Entered)/.test(what) ? "good" : "plain";
}
