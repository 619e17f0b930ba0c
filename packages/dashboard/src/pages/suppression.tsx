/** @jsxImportSource preact */

import type { Suppression } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { findContact } from "../parts/audience/find-contact.ts";
import { REASON_WORDS, SCOPE_MEANING, SCOPE_WORDS, SOURCE_WORDS } from "../parts/audience/words.ts";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Loading } from "../parts/empty.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Facts } from "../parts/facts.tsx";
import { ObjectLink } from "../parts/object-link.tsx";
import { Page } from "../parts/page.tsx";
import { useEvents, useResource } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { go, type PageProps, toHref } from "../router.tsx";

/** One suppressed address: what it does not get, and why. */
export default function SuppressionPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const suppression = useResource((signal) => api.suppressions.get(id, { signal }), [id]);
  const { data, error, reload } = suppression;
  const contact = useResource(
    async (signal) => (data === null || !may("contacts:read") ? null : findContact(data.email, signal)),
    [data?.email],
  );
  useEvents(({ type }) => type.startsWith("suppression."), reload);
  const back = { href: toHref("/suppressions"), name: "Suppressions" };
  if (data === null)
    return (
      <Page title="Suppression" back={back}>
        {error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />}
      </Page>
    );
  const { email, scope, reason, source, emailId, note, createdAt, updatedAt } = data;
  return (
    <Page
      title={email}
      back={back}
      about={<Status status={scope === "all" ? "suppressed" : "paused"} text={SCOPE_WORDS[scope]} />}
      actions={may("suppressions:write") ? <Remove suppression={data} /> : null}
    >
      <div class="scroll">
        <section class="card summary bad">
          <h2>{SCOPE_MEANING[scope]}</h2>
        </section>
        <section class="card">
          <h2>Details</h2>
          <Facts
            facts={[
              ["Reason", REASON_WORDS[reason]],
              ["Came from", SOURCE_WORDS[source]],
              ["Email", emailId === null ? null : <ObjectLink key="email" id={emailId} />],
              ["Contact", contact.data === null ? null : <a href={toHref(`/contacts/${contact.data.id}`)}>{contact.data.email}</a>],
              ["Note", note],
              ["Since", <Time key="since" at={createdAt} exactly />],
              ["Changed", updatedAt === createdAt ? null : <Time key="changed" at={updatedAt} exactly />],
            ]}
          />
        </section>
      </div>
    </Page>
  );
}

/** Consequence of removing a suppression, by its reason. */
const CONSEQUENCES: Readonly<Record<Suppression["reason"], string>> = {
  bounce: "Remove it only if you know that the address works now: further bounces harm the reputation of your domain.",
  complaint: "The person reported your mail as spam. Remove it only if they asked for mail since: another report harms your reputation.",
  unsubscribe: "The person unsubscribed. Mail them again only if they asked for it; in many countries anything else is against the law.",
  manual: "Somebody suppressed this address by hand; the note may say why.",
};

function Remove({ suppression: { email, scope, reason } }: { readonly suppression: Suppression }) {
  const act = async (): Promise<void> => {
    await api.suppressions.delete(email);
    toast(`${email} can get mail again`);
    go("/suppressions");
  };
  return (
    <ConfirmButton label="Remove" question={`Let ${email} get mail again?`} danger act={act}>
      <p>{scope === "all" ? "Mail of every kind can be sent to the address again." : "Marketing can be sent to the address again."}</p>
      <p>{CONSEQUENCES[reason]}</p>
      <p class="soft">A contact keeps its status: to send it campaigns, subscribe it again on its page.</p>
    </ConfirmButton>
  );
}
