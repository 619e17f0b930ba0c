/** @jsxImportSource preact */
import type { InboundDomain } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may, session } from "../api/session.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { CodeBlock } from "../parts/code-block.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";

// Hosts that are no names to which mail can be sent: IP addresses and localhost.
const NO_NAME = /^(?:[\d.]+|\[.*\]|localhost)$/;

/** Domains whose mail is received, with the DNS records that lead it here. */
export default function InboundDomains() {
  return (
    <ListPage
      title="Inbound domains"
      about="Mail to any address at these domains is received here."
      actions={(refresh) => (may("received:write") ? <AddDomain done={refresh} /> : null)}
      load={api.inboundDomains.list}
      entries={(domains, refresh) => domains.map((domain) => <Domain key={domain.id} domain={domain} done={refresh} />)}
      empty="No inbound domains yet"
      start={<p>Answers to mail with Reply-To auto are received without one.</p>}
    />
  );
}

function AddDomain({ done }: { readonly done: () => void }) {
  const add = async (values: FormValues): Promise<void> => {
    await api.inboundDomains.create({ domain: values.text("domain") });
    done();
  };
  return (
    <FormButton label="Add a domain" title="Add a domain" submit="Add" primary act={add}>
      <Field label="Domain" hint="Best a subdomain: its MX record leads all of its mail to this server.">
        <input name="domain" required placeholder="in.acme.example" autocomplete="off" spellcheck={false} />
      </Field>
    </FormButton>
  );
}

function Domain({
  domain: { id, domain, status, dnsRecords, lastError, failingSince, verifiedAt },
  done,
}: {
  readonly domain: InboundDomain;
  readonly done: () => void;
}) {
  const verify = async (): Promise<void> => {
    const after = await api.inboundDomains.verify(id, {});
    if (after.status === "VERIFIED" && after.failingSince === null) toast("Verified");
    else toast(after.lastError ?? "The record was not found yet", { bad: true });
    done();
  };
  const remove = async (): Promise<void> => {
    await api.inboundDomains.delete(id);
    done();
  };
  return (
    <section class="card stack">
      <div class="what">
        <h2>
          {domain} {failingSince === null ? <Status status={status} /> : <Status status="FAILING" text="record missing" />}
        </h2>
        {may("received:write") ? (
          <div class="buttons">
            {status === "PENDING" || failingSince !== null ? <ActionButton label="Verify now" primary act={verify} /> : null}
            <ConfirmButton label="Remove" question={`Remove ${domain}?`} danger act={remove}>
              <p>Later mail to it is refused. Mail that was received stays.</p>
            </ConfirmButton>
          </div>
        ) : null}
      </div>
      <Facts
        facts={[
          ["Verified", verifiedAt && <Time key="at" at={verifiedAt} exactly />],
          ["Record missing since", failingSince && <Time key="missing" at={failingSince} exactly />],
          ["Last check", lastError],
        ]}
      />
      {dnsRecords.some(({ type, value }) => type === "MX" && NO_NAME.test(value)) && !session.value?.dev ? (
        <div class="note bad">
          <strong>No mail can come here yet</strong>
          <p>
            An MX record takes the name of a server, and this one has none. Start it with <code>--inbound-domain</code>, a name that leads
            to it, and <code>--inbound-smtp-port</code>.
          </p>
        </div>
      ) : null}
      {dnsRecords.map(({ type, name, value, priority }) => (
        <div key={type} class="stack">
          <Facts
            facts={[
              ["Type", type],
              ["Name", <code key="name">{name}</code>],
              ["Priority", priority],
            ]}
          />
          <CodeBlock label={`The value of the ${type} record ${name}`} code={value} />
        </div>
      ))}
    </section>
  );
}
