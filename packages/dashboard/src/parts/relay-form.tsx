/** @jsxImportSource preact */
import type { Relay } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { Field } from "./field.tsx";
import { FormButton, type FormValues } from "./form-button.tsx";

/** The kinds of encryption in words. */
export const TLS_WORDS: Readonly<Record<Relay["tls"], string>> = {
  implicit: "TLS from the start",
  required: "STARTTLS, always",
  opportunistic: "STARTTLS, when offered",
  off: "Off",
};

interface Props {
  /** The relay to change; a new one is added without it. */
  readonly relay?: Relay;
  readonly done: (relay: Relay) => void;
}

/** Button with the settings of a relay that logs in by password or not at all. OAuth2 and signing keys are set in a terminal. */
export function RelayForm({ relay, done }: Props) {
  const act = async (values: FormValues): Promise<void> => {
    done(
      relay
        ? await api.relays.update(
            relay.name,
            values.changes((from) => readSettings(from, relay)),
          )
        : await api.relays.add({ ...readSettings(values, relay), name: values.text("name") }),
    );
  };
  const label = relay ? "Change" : "Add a relay";
  return (
    <FormButton label={label} title={relay ? `Change ${relay.name}` : label} submit={relay ? "Save" : "Add"} primary={!relay} act={act}>
      {relay ? null : (
        <Field label="Name" hint="Workspaces, senders and campaigns refer to it by name. The relay named default takes all other mail.">
          <input name="name" required pattern="[a-z0-9][a-z0-9\-]*" placeholder="default" spellcheck={false} />
        </Field>
      )}
      <Field label="Host">
        <input name="host" required defaultValue={relay?.host} placeholder="smtp.example.com" spellcheck={false} />
      </Field>
      <Field label="Port" hint="Empty for 587, or 465 with TLS from the start.">
        <input name="port" type="number" min={1} max={65_535} defaultValue={relay?.port} />
      </Field>
      <Field label="Encryption">
        <select name="tls">
          {relay ? null : <option value="">By the port</option>}
          {Object.entries(TLS_WORDS).map(([tls, words]) => (
            <option key={tls} value={tls} selected={tls === relay?.tls}>
              {words}
            </option>
          ))}
        </select>
      </Field>
      <Field label="User">
        <input name="user" defaultValue={relay?.user ?? ""} autocomplete="off" spellcheck={false} />
      </Field>
      <Field label="Password" hint={relay ? "Leave empty to keep the current one." : "Stored encrypted, and never shown again."}>
        <input name="password" type="password" autocomplete="new-password" />
      </Field>
      <Field label="Emails per second, at most" hint="Empty for no limit.">
        <input name="ratePerSecond" type="number" min={0.01} step="any" defaultValue={relay?.ratePerSecond ?? ""} />
      </Field>
    </FormButton>
  );
}

type Settings = Omit<Parameters<typeof api.relays.add>[0], "name">;

function readSettings(values: FormValues, relay: Relay | undefined): Settings {
  const [port, tls, rate] = [values.text("port"), values.text("tls"), values.text("ratePerSecond")];
  return {
    host: values.text("host"),
    ...(port !== "" && { port: Number(port) }),
    ...(tls !== "" && { tls: tls as Relay["tls"] }),
    ...(relay || values.text("user") !== "" ? { user: values.text("user") || null } : {}),
    ...values.filled("password"),
    ...(relay || rate !== "" ? { ratePerSecond: rate === "" ? null : Number(rate) } : {}),
  };
}
