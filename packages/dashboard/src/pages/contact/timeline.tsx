/** @jsxImportSource preact */
import type { ContactStatus, Explanation } from "@mailsvc/sdk/contract";
import { Empty } from "../../parts/empty.tsx";
import { LinkedText } from "../../parts/linked-text.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import type { Resource } from "../../parts/resource.ts";
import { toTone } from "../../parts/status.tsx";
import { Timeline } from "../../parts/timeline.tsx";
import { toHref } from "../../router.tsx";

interface Props {
  readonly explanation: Resource<Explanation>;
  readonly names: ReadonlyMap<string, string>;
}

/** Everything that happened to a person, the newest first. */
export function ContactTimeline({ explanation, names }: Props) {
  return (
    <Loaded from={explanation}>
      {({ timeline }) =>
        timeline.length === 0 ? (
          <Empty title="Nothing has happened yet" />
        ) : (
          <Timeline
            items={timeline.toReversed().map(({ at, what, why }) => ({
              at,
              what: <LinkedText text={what} names={names} />,
              why: why === null ? null : <Cause text={why} names={names} />,
              tone: toneOf(what),
            }))}
          />
        )
      }
    </Loaded>
  );
}

/** Mail a person gets, and the reasons. */
export function Why({ explanation, names, status }: Props & { readonly status: ContactStatus }) {
  return (
    <Loaded from={explanation}>
      {({ summary }) => (
        <section class={`card summary ${status === "SUBSCRIBED" ? "good" : toTone(status)}`}>
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
  return email === undefined ? <LinkedText text={text} names={names} /> : <a href={toHref(`/activity/${email}`)}>Its story</a>;
}

function toneOf(what: string): string {
  const status = /^Email .*: ([a-z]+)$/s.exec(what)?.[1];
  if (status !== undefined) return toTone(status);
  if (/^(?:Unsubscribed|Marked|The address was suppressed)/.test(what)) return "bad";
  return /^(?:Created|Subscribed|Joined|Entered)/.test(what) ? "good" : "plain";
}
