/** @jsxImportSource preact */
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { DeliveryView } from "../parts/delivery-view.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { useRegularly, useResource } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { type PageProps, toHref } from "../router.tsx";

/** One event for a builder's webhook: its body, and every attempt with the answer. */
export default function ListingDelivery({ params }: PageProps) {
  const { slug = "", id = "" } = params;
  const delivery = useResource((signal) => api.deliveries.get(slug, id, { signal }), [slug, id]);
  useRegularly(delivery.reload);
  const { data } = delivery;
  const again = async (): Promise<void> => {
    const { lastAttempt } = await api.deliveries.redeliver(slug, id);
    const ok = lastAttempt?.class === "ok";
    toast(ok ? `It answered ${lastAttempt.httpStatus}` : (lastAttempt?.message ?? "It is sent again"), { bad: !ok });
    delivery.reload();
  };
  return (
    <Page
      title={data?.type ?? "Delivery"}
      back={{ href: toHref(`/listings/${slug}?tab=deliveries`), name: "Deliveries" }}
      about={data && <Status status={data.state} />}
      actions={data && may("listings:write") ? <ActionButton label="Send it again" act={again} /> : null}
    >
      <Loaded from={delivery}>
        {({ timestamp, settledAt, nextAttemptAt, waitsFor, activationId, runId, body, log }) => (
          <DeliveryView
            body={body}
            log={log}
            facts={[
              ["Happened", <Time key="at" at={timestamp} exactly />],
              ["Finished", settledAt && <Time key="settled" at={settledAt} exactly />],
              ["Next attempt", nextAttemptAt && <Time key="next" at={nextAttemptAt} exactly />],
              [
                "Waits for",
                waitsFor && (
                  <a key="waits" href={toHref(`/listings/${slug}/deliveries/${waitsFor}`)}>
                    an earlier event for this agent
                  </a>
                ),
              ],
              [
                "Activation",
                <a key="activation" href={toHref(`/listings/${slug}?tab=activations`)}>
                  {activationId}
                </a>,
              ],
              ["Run", runId && <code key="run">{runId}</code>],
              ["Event", <code key="id">{id}</code>],
            ]}
          />
        )}
      </Loaded>
    </Page>
  );
}
