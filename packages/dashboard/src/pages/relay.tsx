/** @jsxImportSource preact */

import type { Relay, RelayStep } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { ObjectLink } from "../parts/object-link.tsx";
import { Page } from "../parts/page.tsx";
import { RelayForm, TLS_WORDS } from "../parts/relay-form.tsx";
import { useResource } from "../parts/resource.ts";
import { RelayState } from "../parts/states.tsx";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { go, type PageProps, toHref } from "../router.tsx";

/** One relay: its settings, its state, and a check of each step of the way to it. */
export default function RelayPage({ params }: PageProps) {
  const name = params["name"] ?? "";
  const relay = useResource((signal) => api.relays.get(name, { signal }), [name]);
  const [steps, setSteps] = useState<readonly RelayStep[] | null>(null);
  const check = async (body: { to?: string; from?: string } = {}): Promise<void> => {
    setSteps(null);
    setSteps((await api.relays.test(name, body)).steps);
    relay.reload();
  };
  const remove = async (): Promise<void> => {
    await api.relays.remove(name);
    go("/relays");
  };
  return (
    <Page
      title={name}
      back={{ href: toHref("/relays"), name: "Relays" }}
      about={relay.data === null ? null : <RelayState {...relay.data} />}
      actions={
        relay.data === null ? null : (
          <>
            <ActionButton label="Check" primary act={() => check()} />
            <FormButton
              label="Send a test mail"
              title="Send a mail through this relay"
              submit="Send"
              act={(values: FormValues) => check(values.filled("to", "from"))}
            >
              <Field label="To">
                <input name="to" type="email" required placeholder="you@example.com" />
              </Field>
              <Field label="From" hint="Empty for the address of --mail-from.">
                <input name="from" type="email" />
              </Field>
            </FormButton>
            {relay.data?.source === "api" ? <RelayForm relay={relay.data} done={relay.reload} /> : null}
            {relay.data?.source === "api" ? (
              <ConfirmButton label="Remove" question={`Remove the relay ${name}?`} danger act={remove}>
                <p>A relay that a workspace, sender or campaign uses cannot be removed.</p>
              </ConfirmButton>
            ) : null}
          </>
        )
      }
    >
      <div class="scroll">
        {steps === null ? null : <Steps steps={steps} />}
        <Loaded from={relay}>{(data) => <Settings relay={data} />}</Loaded>
      </div>
    </Page>
  );
}

function Steps({ steps }: { readonly steps: readonly RelayStep[] }) {
  return (
    <section class="card" role="status">
      <h2>{steps.every(({ ok }) => ok) ? "This relay works" : "This relay does not work"}</h2>
      <ul class="items">
        {steps.map(({ step, ok, ms, detail, hint }) => (
          <li key={step}>
            <div class="what">
              <span>
                <Status status={ok ? "ok" : "failed"} /> {step}
              </span>
              <span class="soft">{Math.round(ms)} ms</span>
            </div>
            <p class="soft">{detail}</p>
            {hint === null ? null : <p>{hint}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Settings({ relay }: { readonly relay: Relay }) {
  const { host, port, tls, verify, auth, user, oauth, dkim, ratePerSecond, connections, fallback, workspaceId, reason, since, answeredAt } =
    relay;
  return (
    <section class="card">
      <h2>Settings</h2>
      <Facts
        facts={[
          ["Host", `${host}:${port}`],
          ["Encryption", `${TLS_WORDS[tls]}${verify ? "" : ", certificate not checked"}`],
          ["Login", oauth === null ? auth.replaceAll("_", " ") : `${oauth}, ${auth.replaceAll("_", " ")}`],
          ["User", user],
          [
            "DKIM",
            dkim === null
              ? "keys of the server"
              : dkim.map(({ domain, selector }) => `${selector}._domainkey.${domain}`).join(", ") || "does not sign",
          ],
          ["Pace", ratePerSecond === null ? "no limit" : `${ratePerSecond} mails per second`],
          ["Connections", connections],
          ["Fail-over", fallback.join(", ")],
          ["Workspace", workspaceId && <ObjectLink key="workspace" id={workspaceId} />],
          ["State since", <Time key="since" at={since} exactly />],
          ["Reason", reason],
          ["Last worked", answeredAt && <Time key="answered" at={answeredAt} exactly />],
        ]}
      />
    </section>
  );
}
