/** @jsxImportSource preact */
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { DeliveryView } from "../parts/delivery-view.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { ObjectLink } from "../parts/object-link.tsx";
import { Page } from "../parts/page.tsx";
import { useEvents, useResource } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { type PageProps, toHref } from "../router.tsx";

/** One event sent to a webhook: its body, and every attempt with the answer. */
export default function WebhookDeliveryPage({ params }: PageProps) {
  const { id: webhook = "", delivery = "" } = params;
  const loaded = useResource((signal) => api.webhooks.delivery(webhook, delivery, { signal }), [webhook, delivery]);
  useEvents(() => true, loaded.reload);
  const again = async (): Promise<void> => {
    const { lastAttempt } = await api.webhooks.redeliver(webhook, delivery);
    const ok = lastAttempt?.class === "ok";
    toast(ok ? `It answered ${lastAttempt.httpStatus}` : (lastAttempt?.message ?? "It is sent again"), { bad: !ok });
    loaded.reload();
  };
  return (
    <Page
      title={loaded.data?.type ?? "Delivery"}
      back={{ href: toHref(`/webhooks/${webhook}`), name: "Webhook" }}
      about={loaded.data === null ? null : <Status status={loaded.data.state} />}
      actions={may("webhooks:write") && loaded.data !== null ? <ActionButton label="Send it again" act={again} /> : null}
    >
      <Loaded from={loaded}>
        {({ at, settledAt, nextAttemptAt, waitsFor, eventId, body, log }) => (
          <DeliveryView
            body={body}
            log={log}
            facts={[
              ["Happened", <Time key="at" at={at} exactly />],
              ["Finished", settledAt && <Time key="settled" at={settledAt} exactly />],
              ["Next attempt", nextAttemptAt && <Time key="next" at={nextAttemptAt} exactly />],
              [
                "Waits for",
                waitsFor && (
                  <>
                    <ObjectLink id={waitsFor} of={webhook} />, an earlier delivery about the same object, which is sent first
                  </>
                ),
              ],
              ["Event", <ObjectLink key="event" id={eventId} />],
            ]}
          />
        )}
      </Loaded>
    </Page>
  );
}
