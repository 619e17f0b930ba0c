/** @jsxImportSource preact */
import type { Event } from "@mailsvc/sdk/contract";
import type { ComponentChildren } from "preact";
import { api } from "../api/client.ts";
import { sayField } from "../parts/audit/words.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { Facts } from "../parts/facts.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { ObjectLink } from "../parts/object-link.tsx";
import { Page } from "../parts/page.tsx";
import { useResource } from "../parts/resource.ts";
import { Time } from "../parts/time.tsx";
import { type PageProps, toHref } from "../router.tsx";

/** One event, as webhooks get it. */
export default function EventPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const event = useResource((signal) => api.events.get(id, { signal }), [id]);
  return (
    <Page title={event.data?.type ?? "Event"} back={{ href: toHref("/events"), name: "Events" }}>
      <div class="scroll">
        <Loaded from={event}>
          {(data) => (
            <>
              <section class="card">
                <Facts
                  facts={[
                    ["Happened", <Time key="at" at={data.at} exactly />],
                    ["Recipient", data.recipient?.email ?? data.to],
                    ...listObjects(data),
                    ["Made by", data.machine === null ? null : data.machine ? "a program, such as a link scanner" : "a person"],
                    ["Sequence", data.sequence],
                  ]}
                />
              </section>
              <CodeBlock label="The event as JSON" code={JSON.stringify(data, null, 2)} />
            </>
          )}
        </Loaded>
      </div>
    </Page>
  );
}

/** The objects that an event names, as links. */
function listObjects({ data, ...event }: Event): (readonly [string, ComponentChildren])[] {
  const named = [...Object.entries(event), ...Object.entries(data)].filter(
    (entry): entry is [string, string] => /[a-z]Id$/.test(entry[0]) && typeof entry[1] === "string",
  );
  return [...new Map(named)].map(([name, id]) => [
    capitalize(sayField(name.slice(0, -2))),
    <ObjectLink key={name} id={id} of={name === "entryId" ? (event.automationId ?? undefined) : undefined} />,
  ]);
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
