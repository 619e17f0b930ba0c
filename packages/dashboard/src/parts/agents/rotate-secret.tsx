/** @jsxImportSource preact */
import { api } from "../../api/client.ts";
import { Field } from "../field.tsx";
import { FormButton, type FormValues } from "../form-button.tsx";

const OVERLAPS = [
  { seconds: 86_400, text: "For a day" },
  { seconds: 3600, text: "For an hour" },
  { seconds: 604_800, text: "For a week" },
  { seconds: 0, text: "Not at all: switch at once" },
];

interface Props {
  readonly slug: string;
  /** Called with the new secret, which cannot be shown again. */
  readonly done: (secret: string) => void;
}

/** Makes a new webhook secret; the old one keeps signing for a while. */
export function RotateSecret({ slug, done }: Props) {
  const act = async (values: FormValues): Promise<void> => {
    const { webhookSecret } = await api.listings.rotateSecret(slug, { overlapSeconds: Number(values.text("overlapSeconds")) });
    done(webhookSecret);
  };
  return (
    <FormButton label="Rotate the secret" title="Make a new webhook secret" submit="Rotate" act={act}>
      <Field label="The old secret still signs" hint="Add the new secret to your receiver within this time.">
        <select name="overlapSeconds">
          {OVERLAPS.map(({ seconds, text }) => (
            <option key={seconds} value={seconds}>
              {text}
            </option>
          ))}
        </select>
      </Field>
    </FormButton>
  );
}
