/** @jsxImportSource preact */
import { api } from "../api/client.ts";
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
                    ["Email", data.emailId && <ObjectLink key="email" id={data.emailId} />],
                    ["Contact", data.contactId && <ObjectLink key="contact" id={data.contactId} />],
                    ["Campaign", data.campaignId && <ObjectLink key="campaign" id={data.campaignId} />],
                    ["Automation", data.automationId && <ObjectLink key="automation" id={data.automationId} />],
                    ["Made by", data.machine === null ? null : data.machine ? "a machine, such as a scanner of links" : "a person"],
                    ["Number", data.sequence],
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
