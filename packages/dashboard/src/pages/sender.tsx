/** @jsxImportSource preact */
import type { DomainCheck, DomainFinding, Sender } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { CodeBlock } from "../parts/code-block.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Loading } from "../parts/empty.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Facts } from "../parts/facts.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { type Resource, useResource } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { toZoneFile } from "../parts/zone-file.ts";
import { go, type PageProps, toHref } from "../router.tsx";

const NAMES: Readonly<Record<DomainFinding["check"], string>> = {
  sender: "Sender",
  spf: "SPF",
  dkim: "DKIM",
  dmarc: "DMARC",
  alignment: "Alignment",
  ptr: "PTR",
  mx: "MX",
};

/** One sender: its DNS records to copy, and what a check of them finds. */
export default function SenderPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const sender = useResource((signal) => api.senders.get(id, { signal }), [id]);
  const domain = sender.data === null ? null : sender.data.value.slice(sender.data.value.indexOf("@") + 1);
  const [ip, setIp] = useState("");
  const check = useResource(
    async (signal) => (domain === null ? null : api.domains.check({ domain, ...(ip !== "" && { ip }) }, { signal })),
    [domain, ip],
  );
  const reload = (): void => {
    sender.reload();
    check.reload();
  };
  return (
    <Page
      title={sender.data?.value ?? "Sender"}
      back={{ href: toHref("/senders"), name: "Senders" }}
      about={sender.data === null ? null : <Status status={sender.data.status} text={sender.data.status.toLowerCase()} />}
      actions={sender.data !== null && may("senders:write") ? <Actions sender={sender.data} reload={reload} /> : null}
    >
      <div class="scroll">
        <Loaded from={sender}>{(data) => <Verification sender={data} />}</Loaded>
        {sender.error === null ? <Dns check={check} ip={ip} setIp={setIp} /> : null}
      </div>
    </Page>
  );
}

function Actions({ sender: { id, kind, relay, status, failingSince }, reload }: { readonly sender: Sender; readonly reload: () => void }) {
  const verify = async (): Promise<void> => {
    const after = await api.senders.verify(id, {});
    if (after.status === "VERIFIED" && after.failingSince === null) toast("Verified");
    else
      toast(kind === "address" ? "The confirmation mail was sent again" : (after.lastError ?? "The record was not found yet"), {
        bad: kind === "domain",
      });
    reload();
  };
  const change = async (values: FormValues): Promise<void> => {
    await api.senders.update(id, { relay: values.text("relay") || null });
    reload();
  };
  const remove = async (): Promise<void> => {
    await api.senders.delete(id);
    go("/senders");
  };
  return (
    <>
      {status === "PENDING" || failingSince !== null ? (
        <ActionButton label={kind === "domain" ? "Verify now" : "Send the mail again"} primary act={verify} />
      ) : null}
      <FormButton label="Relay" title="The relay that takes its mail" submit="Save" act={change}>
        <Field label="Name" hint="Empty for the relay of the workspace. Your operator knows the names.">
          <input name="relay" defaultValue={relay ?? ""} spellcheck={false} />
        </Field>
      </FormButton>
      <ConfirmButton label="Remove" question="Remove this sender?" danger act={remove}>
        <p>Later mail from it is refused.</p>
      </ConfirmButton>
    </>
  );
}

function Verification({ sender: { kind, status, dnsRecord, lastError, failingSince, relay, verifiedAt } }: { readonly sender: Sender }) {
  return (
    <section class="card">
      <h2>Verification</h2>
      <Facts
        facts={[
          ["Verified", verifiedAt && <Time key="at" at={verifiedAt} exactly />],
          ["Relay", relay],
          ["Record missing since", failingSince && <Time key="missing" at={failingSince} exactly />],
          ["Last check", lastError],
        ]}
      />
      {status === "PENDING" && kind === "address" ? <p class="soft">A mail with a link was sent to the address. Open it there.</p> : null}
      {dnsRecord === null ? null : <Record record={dnsRecord} />}
    </section>
  );
}

interface DnsProps {
  readonly check: Resource<DomainCheck | null>;
  /** Public address that mail leaves from; empty while it is not given. */
  readonly ip: string;
  readonly setIp: (ip: string) => void;
}

function Dns({ check: { data, error, reload }, ip, setIp }: DnsProps) {
  const [busy, setBusy] = useState(false);
  const again = async (): Promise<void> => {
    setBusy(true);
    reload();
    setBusy(false);
  };
  if (data === null)
    return error === null ? <Loading /> : <ErrorNote title="The domain could not be checked" error={error} retry={reload} />;
  return (
    <section class="card">
      <div class="what">
        <h2>DNS of {data.domain}</h2>
        <span class="buttons">
          <FormButton
            label="Sending address"
            title="The public address that mail leaves from"
            submit="Check"
            act={async (values) => setIp(values.text("ip"))}
          >
            <Field label="IP address" hint="SPF and PTR are checked for it. Needed if the relay is on this machine or network.">
              <input name="ip" defaultValue={ip} placeholder="203.0.113.10" pattern="[0-9A-Fa-f:.]+" spellcheck={false} />
            </Field>
          </FormButton>
          <ActionButton label="Check again" disabled={busy} act={again} />
        </span>
      </div>
      <p class="soft">
        Checked <Time at={data.checkedAt} />
        {data.relay === null ? "" : ` for mail through ${data.relay}`}
        {ip === "" ? "" : ` from ${ip}`}
      </p>
      <ul class="items">
        {data.findings.map((finding, i) => (
          <Finding key={i} finding={finding} />
        ))}
      </ul>
      <ZoneFile findings={data.findings} />
    </section>
  );
}

/** Every record that is to be published, at once. */
function ZoneFile({ findings }: { readonly findings: readonly DomainFinding[] }) {
  const zone = toZoneFile(findings.flatMap(({ record }) => record ?? []));
  if (zone === "") return null;
  return (
    <details>
      <summary class="soft">All of these records as a zone file</summary>
      <CodeBlock label="The records as a zone file" code={zone} />
    </details>
  );
}

function Finding({ finding: { check, status, message, record, hint } }: { readonly finding: DomainFinding }) {
  return (
    <li>
      <div class="what">
        <strong>{NAMES[check]}</strong>
        <Status status={status} />
      </div>
      <p>{message}</p>
      {hint === null ? null : <p class="soft">{hint}</p>}
      {record === null ? null : <Record record={record} />}
    </li>
  );
}

function Record({ record: { type, name, value } }: { readonly record: NonNullable<DomainFinding["record"]> }) {
  return (
    <div class="stack">
      <Facts
        facts={[
          ["Type", type],
          ["Name", <code key="name">{name}</code>],
        ]}
      />
      <CodeBlock label={`The value of the ${type} record ${name}`} code={value} />
    </div>
  );
}
