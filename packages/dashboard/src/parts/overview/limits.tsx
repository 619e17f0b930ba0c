/** @jsxImportSource preact */
import type { MailLimits } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { Field } from "../field.tsx";
import { FormButton, type FormValues } from "../form-button.tsx";
import { useResource } from "../resource.ts";
import { toast } from "../toast.tsx";

const RATES = [
  { name: "bounceWarn", label: "Warn when this share of mail bounces in 24 hours, %" },
  { name: "bouncePause", label: "Pause campaigns when it is, %" },
  { name: "complaintWarn", label: "Warn when this share is reported as spam in 7 days, %" },
  { name: "complaintPause", label: "Pause campaigns when it is, %" },
] as const;

type RateName = (typeof RATES)[number]["name"];

/** Button that shows and sets the shares of bounces and complaints at which a workspace is warned, and its campaigns pause. */
export function LimitsButton() {
  const { data, reload } = useResource((signal) => api.metrics.limits({ signal }), []);
  if (data === null) return null;
  const act = async (values: FormValues): Promise<void> => {
    await api.metrics.setLimits(values.changes(readLimits));
    reload();
    toast("Saved");
  };
  return (
    <FormButton label="Limits" title="Limits of bounces and complaints" submit="Save" act={act}>
      {RATES.map(({ name, label }) => (
        <Field key={name} label={label} hint={name.endsWith("Pause") ? "Empty to never pause." : "Empty to never warn."}>
          <input name={name} type="number" min={0} max={100} step="any" defaultValue={toPercent(readLimit(data, name))} />
        </Field>
      ))}
      <Field label="Emails from which on a share counts">
        <input name="leastMails" type="number" min={1} max={1_000_000} step={1} required defaultValue={data.leastMails} />
      </Field>
    </FormButton>
  );
}

function readLimits(values: FormValues) {
  const shares = Object.fromEntries(RATES.map(({ name }) => [name, toShare(values.text(name))])) as Record<RateName, number | null>;
  return { ...shares, leastMails: Number(values.text("leastMails")) };
}

function readLimit({ bounce, complaint }: MailLimits, name: RateName): number | null {
  const { warn, pause } = name.startsWith("bounce") ? bounce : complaint;
  return name.endsWith("Warn") ? warn : pause;
}

// Ten digits, so that 0.07 of a share is 7 and not 7.000000000000001.
const toPercent = (share: number | null): string => (share === null ? "" : String(Number((share * 100).toPrecision(10))));
const toShare = (percent: string): number | null => (percent === "" ? null : Number((Number(percent) / 100).toPrecision(10)));
